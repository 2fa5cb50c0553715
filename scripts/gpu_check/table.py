"""What came out, as one page."""

import datetime
import subprocess

from machine import Machine

ALONE = ["dahl", "dahl, CPU alone"]
TOGETHER = "dahl, CPU and device"
KINDS = [*ALONE, TOGETHER, "dahl, its kernel", "cuBLAS", "eager", "compiled"]
RATIOS = ["dahl / PyTorch", "dahl / cuBLAS", "together / better alone"]


class Results:
    """Tests, rows and what was not there, in the order in which they come."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.tests: list[tuple[str, str, float]] = []
        self.rows: dict[str, dict[str, tuple[float, str]]] = {}
        self.missing: list[tuple[str, str]] = []
        self.has_failed = False

    def test(self, name: str, said: str, seconds: float, failed: bool = False) -> None:
        self.tests.append((name, said, seconds))
        self.has_failed |= failed

    def row(self, row: str, kind: str, value: float, unit: str) -> None:
        self.rows.setdefault(row, {})[kind] = (value, unit)

    def absent(self, what: str, why: str) -> None:
        self.missing.append((what, why.replace("\n", " ")))

    def absent_rows(self, kind: str, why: str) -> None:
        """Notes the rows that others have and this kind has not, if nothing was said of them."""
        said = {what for what, _ in self.missing}
        for row, figures in self.rows.items():
            if kind not in figures and f"{row}, {kind}" not in said:
                self.absent(f"{row}, {kind}", why)

    def page(self) -> str:
        machine = self.machine
        facts = [
            f"device: {machine.device or 'none'}",
            f"processors: {machine.processors}",
            f"nvcc: {machine.nvcc or 'none'}",
            f"PyTorch: {machine.torch or 'none'}" + (f" on {machine.torch_device}" if machine.torch_device else ""),
            f"dahl: {commit()}",
            f"{datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d %H:%M} UTC",
        ]
        if machine.is_fake:
            facts.insert(0, "**on the fake CUDA driver: figures mean nothing**")
        parts = ["# dahl on a CUDA device", "\n".join(f"* {fact}" for fact in facts)]
        if self.tests:
            lines = [f"| {name} | {said} | {seconds:.0f} s |" for name, said, seconds in self.tests]
            parts.append("\n".join(["| test | | |", "|---|---|---:|", *lines]))
        if self.rows:
            parts.append("\n".join(self.comparison()))
        if self.missing:
            reasons: dict[str, list[str]] = {}
            for what, why in self.missing:
                reasons.setdefault(why, []).append(what)
            parts.append("\n".join(["Not there:", "", *(f"* {'; '.join(those)}: {why}" for why, those in reasons.items())]))
        return "\n\n".join(parts) + "\n"

    def comparison(self) -> list[str]:
        """A line for each row: each program's figure, and dahl's over the better one of PyTorch's, over cuBLAS called directly, and
        with the processors and the device together over the better of the two alone."""
        kinds = [kind for kind in KINDS if any(kind in row for row in self.rows.values())]
        lines = ["| | " + " | ".join([*kinds, "unit", *RATIOS]) + " |", "|---|" + "---:|" * len(kinds) + "---|" + "---:|" * len(RATIOS)]
        for name, row in self.rows.items():
            figures = [f"{row[kind][0]:,.4g}" if kind in row else "" for kind in kinds]
            unit = next(iter(row.values()))[1]
            dahl, together = best(row, ["dahl"]), best(row, [TOGETHER])
            ratios = [over(dahl, best(row, ["eager", "compiled"])), over(dahl, best(row, ["cuBLAS"])), over(together, best(row, ALONE))]
            lines.append(f"| {name} | {' | '.join([*figures, unit, *ratios])} |")
        return lines


def best(row: dict[str, tuple[float, str]], kinds: list[str]) -> float | None:
    """The largest figure of a row, of these programs."""
    return max((row[kind][0] for kind in kinds if kind in row), default=None)


def over(figure: float | None, other: float | None) -> str:
    return f"{figure / other:.3f}" if figure and other else ""


def commit() -> str:
    """The commit, where git knows it."""
    try:
        command = ["git", "rev-parse", "--short", "HEAD"]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
