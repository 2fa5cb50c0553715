#!/usr/bin/env python3
"""Runs empty tasks in dahl and in StarPU in turn, and writes what a task costs into docs/performance.md.

    apt-get install libstarpu-dev
    benches/starpu/compare.py                      all, some three minutes
    benches/starpu/compare.py --rows 'chain-*'
    benches/starpu/compare.py --quick              shows that it works

A row is `graph-workers`. A run of some rows, and a quick one, writes target/comparison/performance.md in place of the page.
"""

import argparse
import fnmatch
import json
import pathlib
import shlex
import subprocess
import sys
from functools import partial

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benches"))

from comparison import page, program, rounds
from comparison.machine import Occasion
from comparison.page import Targets, table
from comparison.spread import Spread, apart, significant, times

SOURCE = ROOT / "benches" / "starpu" / "empty_tasks.c"

EMPTY = ("independent", "chain", "random")
WORKING = "independent-1us"
ROWS = [f"{graph}-{workers}" for graph in (*EMPTY, WORKING) for workers in (1, 2)]

# Of an empty task, at most; and of StarPU's time, at most.
TASK_NS, SHARE = 250, 0.1


def built() -> str:
    """Builds the program against libstarpu; its path."""
    target = page.KEPT / "empty_tasks"
    flags = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "starpu-1.3"], stdout=subprocess.PIPE, text=True, check=False
    )
    if flags.returncode != 0:
        raise program.ProgramError("StarPU 1.3 is not there: `apt-get install libstarpu-dev`")
    strict = ["-std=c11", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra"]
    command = ["cc", *strict, str(SOURCE), "-o", str(target), *shlex.split(flags.stdout)]
    if subprocess.run(command, check=False).returncode != 0:
        raise program.ProgramError(f"`{shlex.join(command)}` has failed")
    return str(target)


def of_dahl(bench: str, turns: int, row: str) -> dict:
    graph, _, workers = row.rpartition("-")
    return program.lines([bench, "--json", "--graph", graph, "--workers", workers, "--rounds", str(turns)])[-1]


def of_starpu(tasks: str, turns: int, row: str) -> dict:
    graph, _, workers = row.rpartition("-")
    measured = program.lines([tasks, graph, workers, str(turns)], STARPU_SILENT="1", STARPU_HOME=str(page.KEPT))[-1]
    if measured["workers"] != int(workers):
        raise program.ProgramError(f"StarPU has {measured['workers']} workers here, not {workers}")
    return measured


def ns(measurement: dict) -> float:
    return measurement["ns_per_task"]


def per_task(measured: dict, targets: Targets) -> str:
    """The table of what a task costs."""
    rows = []
    for row, of in measured.items():
        own, other = (Spread.of([ns(measurement) for measurement in of[side]]) for side in ("dahl", "StarPU"))
        share = Spread.of(rounds.ratios(of, "dahl", "StarPU", ns))
        met = "-"
        if not row.startswith(WORKING):
            text = apart(own.median, TASK_NS, lambda value, more: f"{value:.{more}f}") + " ns"
            few = targets.judge(f"an empty task: at most {TASK_NS} ns", row, text, own.median <= TASK_NS)
            asked = f"an empty task: at most {SHARE:g} of StarPU's"
            text = apart(share.median, SHARE, lambda value, more: f"{value:.{2 + more}f}") + " x"
            less = targets.judge(asked, row, text, share.median <= SHARE)
            met = f"{few}, {less}"
        cells = [row, own.text(significant), other.text(significant), times(share), met]
        for side in ("dahl", "StarPU"):
            bytes_ = [measurement["bytes_per_task"] for measurement in of[side]]
            cells.append("-" if None in bytes_ else significant(Spread.of(bytes_).median))
        rows.append(cells)
    columns = ["graph-workers", ">dahl, ns", ">StarPU, ns", ">dahl / StarPU", f"<= {TASK_NS} ns, {SHARE:g} x"]
    return table([*columns, ">dahl, bytes", ">StarPU, bytes"], rows)


def two_workers(measured: dict, targets: Targets) -> str:
    """The table of two workers against one on tasks of a microsecond."""
    one, two = (measured.get(f"{WORKING}-{workers}") for workers in (1, 2))
    if one is None or two is None:
        return ""
    rows = []
    for side in ("dahl", "StarPU"):
        ratio = Spread.of([ns(alone) / ns(both) for alone, both in zip(one[side], two[side], strict=True)])
        met = "-"
        if side == "dahl":
            asked = "independent tasks of 1 us: two workers no slower than one"
            text = apart(ratio.median, 1, lambda value, more: f"{value:.{2 + more}f}") + " x"
            met = targets.judge(asked, WORKING, text, ratio.median >= 1)
        rows.append([side, times(ratio), "1 x" if side == "dahl" else "-", met])
    return table(["tasks of 1 us", ">two workers / one", ">target", "met"], rows)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", nargs="+", metavar="ROW", help="the rows, `*` and `?` for any; without it all")
    parser.add_argument("--list", action="store_true", help="shows the rows")
    parser.add_argument("--rounds", type=int, help="7, if nothing is said")
    parser.add_argument("--quick", action="store_true", help="two short rounds: figures mean nothing")
    page.add_option(parser)
    return parser.parse_args()


def main() -> None:
    settings = arguments()
    rows = [row for row in ROWS if any(fnmatch.fnmatch(row, pattern) for pattern in settings.rows or ["*"])]
    if settings.list or not rows:
        sys.exit("no such row: --list shows them") if not rows else print("\n".join(rows))
        return
    page.KEPT.mkdir(parents=True, exist_ok=True)
    occasion = Occasion()
    bench, tasks = program.bench("dahl-benches", "task_overhead"), built()
    turns = 1 if settings.quick else 3
    count = settings.rounds or (2 if settings.quick else 7)
    sides = {"dahl": partial(of_dahl, bench, turns), "StarPU": partial(of_starpu, tasks, turns)}
    measured = rounds.in_turn(rows, sides, count)
    (page.KEPT / "starpu.json").write_text(json.dumps(measured))

    about = next(iter(measured.values()))["StarPU"][0]
    starpu = f"StarPU {about['version']} with its scheduler {about['scheduler']}"
    targets = Targets()
    tables = [per_task(measured, targets), two_workers(measured, targets), targets.text(), occasion.text(count, starpu)]
    is_whole = settings.rows is None and not settings.quick
    target = settings.page if is_whole else page.draft(settings.page)
    text = "\n".join(part for part in tables if part)
    page.write(target, "tasks", text)
    print(f"\n{text}")
    print(f"\n{target.relative_to(ROOT)} is written", file=sys.stderr)


if __name__ == "__main__":
    try:
        main()
    except program.ProgramError as error:
        sys.exit(str(error))
