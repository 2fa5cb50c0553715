#!/usr/bin/env python3
"""Runs dahl and PyTorch in turn, and writes what they reached into docs/performance.md.

    benches/pytorch/setup.sh
    target/pytorch/bin/python benches/pytorch/compare.py                              all, some 20 minutes
    target/pytorch/bin/python benches/pytorch/compare.py --rows 'small-f32-*' conv-bf16
    target/pytorch/bin/python benches/pytorch/compare.py --quick                      shows that it works
    target/pytorch/bin/python benches/pytorch/compare.py --again                      the page from the last whole run

A row is `network-type-batch-workers`, `conv-type`, `gemm-type` or `map-type`. A run of some rows, and a quick one, writes
target/comparison/performance.md in place of the page.
"""

import argparse
import fnmatch
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benches"))

import report
from kernels import Convolutions, Maps, Products
from training import MNIST, ROWS, SMALL, Programs, Row

from comparison import page, program, rounds
from comparison.machine import Occasion


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", nargs="+", metavar="ROW", help="the rows, `*` and `?` for any; without it all")
    parser.add_argument("--list", action="store_true", help="shows the rows")
    parser.add_argument("--rounds", type=int, help="5, if nothing is said")
    parser.add_argument("--quick", action="store_true", help="two rounds of few rows: figures mean nothing")
    parser.add_argument("--again", action="store_true", help="writes the page from what the last whole run measured")
    page.add_option(parser)
    return parser.parse_args()


class Selection:
    """The rows of each part of the comparison."""

    def __init__(self, patterns: list[str] | None, quick: bool) -> None:
        def wanted(name: str) -> bool:
            return patterns is None or any(fnmatch.fnmatch(name, pattern) for pattern in patterns)

        usual = [SMALL[2], MNIST[8]] if quick and patterns is None else ROWS
        self.training = [row for row in usual if wanted(str(row))]
        convolutions = ("bf16",) if quick and patterns is None else Convolutions.ROWS
        self.convolutions = [row for row in convolutions if wanted(f"conv-{row}")]
        maps = ("bf16",) if quick and patterns is None else Maps.ROWS
        self.maps = [row for row in maps if wanted(f"map-{row}")]
        self.products = [row for row in Products.ROWS if wanted(f"gemm-{row}") and Products.is_there()]

    def kernels(self) -> dict[str, list[str]]:
        """The element types of each kind of kernel."""
        return {"conv": self.convolutions, "gemm": self.products, "map": self.maps}

    def names(self) -> list[str]:
        kernels = [f"{part}-{row}" for part, rows in self.kernels().items() for row in rows]
        return [str(row) for row in self.training] + kernels


def measure(selection: Selection, count: int, quick: bool) -> dict:
    """Everything that was measured, as JSON can keep it."""
    occasion = Occasion()
    programs = Programs(0.2 if quick else 0.8)
    for row in selection.training:
        programs.try_out(row)
    training = rounds.in_turn(selection.training, {"dahl": programs.dahl, "PyTorch": programs.torch}, count)
    kernels = {}
    convolutions = Convolutions(0.03 if quick else 0.1)
    products = Products(0.03 if quick else 0.3, 512 if quick else 2048)
    programs_of = {
        "conv": {"dahl": convolutions.dahl, "PyTorch": convolutions.torch},
        "gemm": {"dahl": products.dahl, "PyTorch": products.torch},
        "map": {"dahl": Maps().dahl},
    }
    for part, rows in selection.kernels().items():
        kernels[part] = rounds.in_turn(rows, programs_of[part], count, f"{part}-{{}}".format)
    return {
        "about": occasion.text(count, programs.version) if programs.version else occasion.text(count),
        "training": {str(row): sides for row, sides in training.items()},
        "formats": {str(row): name for row, name in programs.formats.items()},
        "learned": programs.learned,
        **kernels,
    }


def sections(kept: dict, chart: pathlib.Path, link: str) -> dict[str, str]:
    """The text of each section of the page."""
    by_name = {str(row): row for row in ROWS}
    training: dict[Row, dict] = {by_name[name]: sides for name, sides in kept["training"].items()}
    formats = {by_name[name]: memory_format for name, memory_format in kept["formats"].items()}
    targets = report.Targets()
    texts = {}
    if training:
        report.chart(training, chart)
        picture = f"![Samples per second, dahl by PyTorch]({link})"
        table = report.training(training, formats, targets)
        speed_up = report.speed_up(training, targets)
        learned = report.losses(kept["learned"]) if kept.get("learned") else ""
        texts["training"] = "\n".join([picture, "", table, speed_up, learned, kept["about"]])
    if kept["conv"]:
        texts["convolution"] = "\n".join([report.convolutions(kept["conv"], targets), kept["about"]])
    if kept["gemm"]:
        texts["gemm"] = "\n".join([report.products(kept["gemm"], targets), kept["about"]])
    if kept["map"]:
        texts["maps"] = "\n".join([report.maps(kept["map"], targets), kept["about"]])
    return {"targets": targets.text(), **texts}


def main() -> None:
    settings = arguments()
    selection = Selection(settings.rows, settings.quick)
    if settings.list:
        print("\n".join(selection.names()))
        return
    is_whole = settings.again or (settings.rows is None and not settings.quick)
    measurements = page.KEPT / ("pytorch.json" if is_whole else "pytorch-some.json")
    page.KEPT.mkdir(parents=True, exist_ok=True)
    if not settings.again:
        if not selection.names():
            sys.exit("no such row: --list shows them")
        count = settings.rounds or (2 if settings.quick else 5)
        measurements.write_text(json.dumps(measure(selection, count, settings.quick)))
    kept = json.loads(measurements.read_text())
    if is_whole:
        target, images = settings.page, "images/"
    else:
        target, images = page.draft(settings.page), ""
    link = f"{images}{target.stem}-training.svg"
    chart = target.parent / link
    for section, text in sections(kept, chart, link).items():
        page.write(target, section, text)
        print(f"\n## {section}\n\n{text}")
    print(f"\n{target.relative_to(ROOT)} is written", file=sys.stderr)


if __name__ == "__main__":
    try:
        main()
    except program.ProgramError as error:
        sys.exit(str(error))
