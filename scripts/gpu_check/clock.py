"""How much time is left."""

import time


class Clock:
    """Seconds that are left, from when it is made."""

    def __init__(self, seconds: float) -> None:
        self.end = time.monotonic() + seconds

    def left(self) -> float:
        return max(0.0, self.end - time.monotonic())

    def part(self, share: float) -> "Clock":
        """A part of what is left now."""
        return Clock(self.left() * share)
