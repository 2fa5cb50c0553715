"""A median with its quartiles."""

import statistics
from dataclasses import dataclass


@dataclass(frozen=True)
class Spread:
    """The median of some measurements, and their quartiles."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: list[float]) -> "Spread":
        """Of at least one measurement; quartiles lie between measurements."""
        if len(values) == 1:
            return cls(values[0], values[0], values[0])
        low, median, high = statistics.quantiles(values, n=4, method="inclusive")
        return cls(median, low, high)

    def text(self, show) -> str:
        """`median (low to high)`, each as `show` writes it."""
        return f"{show(self.median)} ({show(self.low)} to {show(self.high)})"


def significant(value: float) -> str:
    """Three digits, and thousands apart."""
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f}"


def apart(value: float, limit: float, show) -> str:
    """What `show` writes of `value` and a number of digits: of so many that it does not read as a limit which it is not."""
    for more in range(4):
        if value == limit or show(value, more) != show(limit, more):
            return show(value, more)
    return show(value, 4)


def times(spread: Spread) -> str:
    """A ratio with its quartiles."""
    return spread.text(lambda ratio: f"{ratio:.2f}") + " x"
