#!/usr/bin/env python3
"""Trains the networks of dahl-nn's examples in dahl and in PyTorch, in turn, and writes the section `networks` of a page.

    benches/pytorch/setup.sh
    target/pytorch/bin/python benches/pytorch/networks.py --page docs/performance-zen-4.md       all, some 40 minutes
    target/pytorch/bin/python benches/pytorch/networks.py --rows 'gpt-*' --rounds 5

A row is `network-type-workers`. Rows that are not measured keep the figures of the last run.
"""

import argparse
import fnmatch
import json
import os
import pathlib
import sys
import tempfile
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benches"))

from comparison import page, program, rounds
from comparison.machine import Occasion
from comparison.spread import Spread, apart, significant, times

KEPT = page.KEPT / "networks.json"
STEPS = ROOT / "benches" / "pytorch" / "steps.py"

# Memory against PyTorch's, at most; of the memory bandwidth that a program which writes text reaches, at least.
MEMORY, BANDWIDTH = 1 / 3, 0.9
# Steps of which the losses are compared.
COMPARED = 8
# Parameters of GPT-2 small with 256 positions: each token needs all but the positions', and reads the tokens' once.
PARAMETERS = 124_439_808 - 1024 * 768
BYTES = {"f64": 8, "f32": 4, "bf16": 2}


@dataclass(frozen=True)
class Row:
    """A network in an element type, by so many workers."""

    network: str
    element: str
    workers: int

    def __str__(self) -> str:
        return f"{self.network}-{self.element}-{self.workers}"

    @property
    def target(self) -> float | None:
        """How often PyTorch's speed dahl is to reach."""
        if self.network == "writing":
            return None
        if self.network == "gpt":
            return {"f32": 2.0, "f64": 3.0}[self.element]
        return 1.3 if self.network == "gpt2" else 1.5

    @property
    def variants(self) -> dict[str, list[str]]:
        """What PyTorch is tried with: the fastest counts."""
        found = {"eager": [], "compiled": ["--compiled"]}
        if self.network in ("resnet20", "lenet"):
            found |= {f"{name} NHWC": [*more, "--channels-last"] for name, more in found.items()}
        return found

    def arguments(self) -> list[str]:
        settings = {"network": self.network, "type": self.element, "workers": self.workers}
        return [text for name, value in settings.items() for text in (f"--{name}", str(value))]


NETWORKS = {
    "gpt": ("f32", "f64"),
    "gpt2": ("f32", "bf16"),
    "resnet20": ("f32", "f64"),
    "lenet": ("f32", "f64"),
    "lstm": ("f32", "f64"),
    "writing": ("f32", "bf16"),
}
ROWS = [Row(name, element, workers) for name, types in NETWORKS.items() for element in types for workers in (1, 2)]


class Side:
    """A program that takes steps of a row whenever it is told."""

    def __init__(self, command: list[str], seconds: float) -> None:
        self.server, self.seconds = program.Server(command), seconds
        self.first = self.answer()

    def answer(self) -> dict:
        before = self.processor_seconds()
        found = self.server.answer([str(self.seconds)])
        return found | {"processor_seconds": self.processor_seconds() - before}

    def processor_seconds(self) -> float:
        """What all threads of the program have computed for: other programs on the machine change it less than the time."""
        fields = pathlib.Path(f"/proc/{self.server.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        self.server.process.stdin.close()
        self.server.process.wait()


def step_seconds(answer: dict) -> float:
    """Of the median step."""
    return Spread.of(answer["seconds"]).median


def processor_seconds(answer: dict) -> float:
    """Of all processors, for a step."""
    return answer["processor_seconds"] / len(answer["seconds"])


class Comparison:
    """Both programs, row by row."""

    def __init__(self, count: int, seconds: float, folder: pathlib.Path) -> None:
        self.count, self.seconds, self.folder = count, seconds, folder
        self.steps = program.bench("dahl-benches", "steps")

    def torch(self, row: Row, weights: pathlib.Path, *more: str) -> Side:
        command = [sys.executable, str(STEPS), *row.arguments(), "--weights", str(weights), *more]
        return Side(command, self.seconds)

    def measure(self, row: Row) -> dict:
        occasion = Occasion()
        weights = self.folder / f"{row.network}-{row.element}.safetensors"
        dahl = Side([self.steps, *row.arguments(), "--save", str(weights)], self.seconds)
        tried, speeds = {}, {}
        for name, more in row.variants.items():
            side = tried[name] = self.torch(row, weights, *more)
            speeds[name] = step_seconds(side.answer())
            print(f"        {row}: {name} {1e3 * speeds[name]:.1f} ms", file=sys.stderr, flush=True)
            slowest = max(tried, key=speeds.get)
            if len(tried) > 1:
                tried.pop(slowest).close()
        ((best, other),) = tried.items()
        learned = self.agreement(row, weights, dahl, other)
        sides = {"dahl": lambda _: dahl.answer(), "PyTorch": lambda _: other.answer()}
        if row.network == "writing":
            reading = Side([self.steps, "--network", "bandwidth", "--workers", str(row.workers)], self.seconds)
            sides["memory"] = lambda _: reading.answer()
        measured = rounds.in_turn([row], sides, self.count)[row]
        result = {
            "seconds": {side: [step_seconds(answer) for answer in measured[side]] for side in ("dahl", "PyTorch")},
            "processor": {side: [processor_seconds(answer) for answer in measured[side]] for side in ("dahl", "PyTorch")},
            "memory": {side: measured[side][-1]["peak_resident_bytes"] for side in ("dahl", "PyTorch")},
            "bandwidth": [answer["bytes_per_second"] for answer in measured.get("memory", [])],
            "variant": best,
            "agreement": learned,
            "about": occasion.text(self.count, f"PyTorch {other.first['version']}"),
        }
        for side in [dahl, other, *([reading] if row.network == "writing" else [])]:
            side.close()
        return result

    def agreement(self, row: Row, weights: pathlib.Path, dahl: Side, other: Side) -> list[float]:
        """The last loss that is compared, in both programs; of writing, how many of the best tokens are the same."""
        if row.network != "writing":
            both = list(zip(dahl.first["outcomes"], other.first["outcomes"], strict=False))[:COMPARED]
            return [*both[-1], max(abs(one - two) / abs(two) for one, two in both)]
        greedy = ["--temperature", "0"]
        sides = [Side([self.steps, *row.arguments(), *greedy], 0), self.torch(row, weights, *greedy)]
        for side in sides:
            side.close()
        one, two = (side.first["outcomes"] for side in sides)
        same = next((place for place, pair in enumerate(zip(one, two, strict=True)) if pair[0] != pair[1]), len(one))
        return [same, len(one)]


def table(kept: dict[str, dict]) -> str:
    """All rows, which targets are met, and when they were measured."""
    targets, rows, abouts = page.Targets(), [], {}
    for row in (row for row in ROWS if str(row) in kept):
        of = kept[str(row)]
        own, other = of["seconds"]["dahl"], of["seconds"]["PyTorch"]
        ratio = Spread.of([two / one for one, two in zip(own, other, strict=True)])
        share = of["memory"]["dahl"] / of["memory"]["PyTorch"]
        busy = [sum(of["processor"][side]) for side in ("dahl", "PyTorch")]
        targets.judge("memory: at most a third of PyTorch's", str(row), f"{share:.0%}", share <= MEMORY)
        if row.target is None:
            needed = PARAMETERS * BYTES[row.element]
            reached = Spread.of([needed / one / read for one, read in zip(own, of["bandwidth"], strict=True)])
            asked, is_met = f"at least {BANDWIDTH:.0%} of the bandwidth", reached.median >= BANDWIDTH
            met = targets.judge(f"{row.network}: {asked}", str(row), f"{reached.median:.0%}", is_met)
            goal = f"{reached.median:.0%} of {BANDWIDTH:.0%}"
            agreement = "{} of {} tokens".format(*of["agreement"])
        else:
            shown = apart(ratio.median, row.target, lambda value, more: f"{value:.{2 + more}f}")
            asked = f"{row.network} {row.element}: at least {row.target:g} times PyTorch"
            met = targets.judge(asked, str(row), f"{shown} x", ratio.median >= row.target)
            goal = f"{row.target:g} x"
            agreement = "{:.4f}, {:.4f}".format(*of["agreement"])
        speeds = [significant(1e3 * Spread.of(side).median) for side in (own, other)]
        memory = [f"{of['memory'][side] / 2**20:,.0f}" for side in ("dahl", "PyTorch")]
        rows.append(
            [str(row), speeds[0], f"{speeds[1]} {of['variant']}", times(ratio), f"{busy[1] / busy[0]:.2f} x", goal, met]
            + [*memory, f"{share:.0%}", agreement]
        )
        abouts.setdefault(of["about"], []).append(str(row))
    columns = ["row", ">dahl, ms", ">PyTorch, ms", ">dahl / PyTorch", ">by CPU time", ">target", "met"]
    columns += [">MiB", ">PyTorch's", ">share"]
    notes = [f"{', '.join(names)}: {about}" for about, names in abouts.items()]
    return "\n".join([targets.text(), page.table([*columns, ">loss in both"], rows), *(f"* {note}" for note in notes)])


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", nargs="+", metavar="ROW", default=["*"], help="the rows, `*` and `?` for any")
    parser.add_argument("--list", action="store_true", help="shows the rows")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1.0, help="of a program in a round; two steps at least")
    parser.add_argument("--again", action="store_true", help="writes the page from what was measured before")
    page.add_option(parser)
    return parser.parse_args()


def main() -> None:
    settings = arguments()
    chosen = [row for row in ROWS if any(fnmatch.fnmatch(str(row), pattern) for pattern in settings.rows)]
    if settings.list:
        print("\n".join(map(str, chosen)))
        return
    if not chosen:
        sys.exit("no such row: --list shows them")
    page.KEPT.mkdir(parents=True, exist_ok=True)
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    if not settings.again:
        with tempfile.TemporaryDirectory() as folder:
            comparison = Comparison(settings.rounds, settings.seconds, pathlib.Path(folder))
            for row in chosen:
                kept[str(row)] = comparison.measure(row)
                KEPT.write_text(json.dumps(kept))
    text = table(kept)
    page.write(settings.page, "networks", text)
    print(f"\n{text}\n\n{settings.page.relative_to(ROOT)} is written", file=sys.stderr)


if __name__ == "__main__":
    try:
        main()
    except program.ProgramError as error:
        sys.exit(str(error))
