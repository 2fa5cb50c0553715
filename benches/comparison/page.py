"""What is written into a page: tables, between `<!-- NAME -->` and `<!-- end -->`."""

import pathlib


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


def write(page: pathlib.Path, section: str, text: str) -> None:
    """Puts `text` into the section of the page, in place of what is there."""
    before, begin, rest = page.read_text().partition(f"<!-- {section} -->\n")
    _, end, after = rest.partition("<!-- end -->\n")
    if not begin or not end:
        raise ValueError(f"{page} has no place for it: lines `<!-- {section} -->` and `<!-- end -->`")
    page.write_text(f"{before}{begin}\n{text.strip()}\n\n{end}{after}")
