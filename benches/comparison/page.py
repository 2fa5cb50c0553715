"""What is written into a page, between `<!-- NAME -->` and `<!-- end -->`: tables, and which targets are met."""

import argparse
import pathlib
import textwrap
from dataclasses import dataclass, field

from .program import ROOT

# Where pages go that are not of a whole run.
KEPT = ROOT / "target" / "comparison"


def add_option(parser: argparse.ArgumentParser) -> None:
    """`--page`: which page is written."""
    page = ROOT / "docs" / "performance.md"
    told = "the page to write, each machine's its own; without it docs/performance.md"
    parser.add_argument("--page", type=existing, default=page, help=told)


def existing(path: str) -> pathlib.Path:
    """The page, before anything is measured for it."""
    page = pathlib.Path(path).resolve()
    if not page.is_file():
        raise argparse.ArgumentTypeError(f"there is no page {path}")
    return page


def draft(page: pathlib.Path) -> pathlib.Path:
    """A copy of the page, to be written in place of it."""
    KEPT.mkdir(parents=True, exist_ok=True)
    copy = KEPT / page.name
    copy.write_text(page.read_text())
    return copy


def table(columns: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown; columns whose name begins with `>` are those of figures, at the right."""
    names = [column.removeprefix(">") for column in columns]
    widths = [max(map(len, cells)) for cells in zip(names, *rows, strict=True)]

    def line(cells: list[str]) -> str:
        at_the_right = [column.startswith(">") for column in columns]
        padded = (
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(cells, widths, at_the_right, strict=True)
        )
        return "| " + " | ".join(padded) + " |"

    dashes = ("-" * (width + 1) for width in widths)
    ends = (dash + (":" if column.startswith(">") else "-") for dash, column in zip(dashes, columns, strict=True))
    return "\n".join([line(names), "|" + "|".join(ends) + "|", *map(line, rows)]) + "\n"


@dataclass
class Targets:
    """Which rows meet a target, by what it asks for."""

    asked: dict[str, list[tuple[str, str, bool]]] = field(default_factory=dict)

    def judge(self, target: str, row: str, value: str, is_met: bool) -> str:
        """Notes whether a row meets a target; `yes` or `no`."""
        self.asked.setdefault(target, []).append((row, value, is_met))
        return "yes" if is_met else "no"

    def text(self) -> str:
        """A list: for each target, in how many rows it is met, and the rows in which it is not."""
        items = []
        for target, judged in self.asked.items():
            missed = [f"{row}: {value}" for row, value, is_met in judged if not is_met]
            met = len(judged) - len(missed)
            answer = "met" if not missed else "not met" if met == 0 else "met in part"
            item = f"* {target}: **{answer}**, {met} of {len(judged)}."
            if missed:
                item += f" Missed by {'; '.join(missed)}."
            items.append(
                textwrap.fill(item, 120, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
            )
        return "\n".join(items) + "\n"


def write(page: pathlib.Path, section: str, text: str) -> None:
    """Puts `text` into the section of the page, in place of what is there."""
    before, begin, rest = page.read_text().partition(f"<!-- {section} -->\n")
    _, end, after = rest.partition("<!-- end -->\n")
    if not begin or not end:
        raise ValueError(f"{page} has no place for it: lines `<!-- {section} -->` and `<!-- end -->`")
    page.write_text(f"{before}{begin}\n{text.strip()}\n\n{end}{after}")
