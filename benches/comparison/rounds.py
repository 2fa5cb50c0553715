"""Sides of a comparison in turn, so that what else the machine does meets all of them alike."""

import sys
import time


def in_turn(rows: list, sides: dict, rounds: int, name=str) -> dict:
    """Measures each side of each row once a round: `measured[row][side]` has a measurement for each round.

    `sides` maps a side's name to a function of a row, or to one that gives nothing where the side has no such row. Each
    round begins with another row and another side.
    """
    measured = {row: {side: [] for side in sides} for row in rows}
    began = time.monotonic()
    for turn in range(rounds):
        first = turn * len(rows) // rounds
        for place, row in enumerate(rows[first:] + rows[:first]):
            shown = f"round {turn + 1} of {rounds}, {place + 1} of {len(rows)}: {name(row)}"
            print(f"{time.monotonic() - began:6.0f} s  {shown}", file=sys.stderr, flush=True)
            for side in list(sides) if turn % 2 == 0 else reversed(list(sides)):
                measurement = sides[side](row)
                if measurement is not None:
                    measured[row][side].append(measurement)
    return measured


def ratios(measured: dict, side: str, other: str, figure) -> list[float]:
    """`figure` of one side by that of the other, round by round."""
    return [figure(one) / figure(two) for one, two in zip(measured[side], measured[other], strict=True)]
