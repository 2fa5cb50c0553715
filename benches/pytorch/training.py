"""Rows of training: which there are, how both programs run them, and what is to be reached."""

import sys
from dataclasses import dataclass
from functools import cached_property

from comparison import program
from comparison.spread import Spread

HERE = program.ROOT / "benches" / "pytorch"

# Two workers against one, at least, on the larger network; memory against PyTorch's, at most.
SPEED_UP, MEMORY = 1.8, 0.25


@dataclass(frozen=True)
class Row:
    """A network in an element type, at a batch size, by so many workers."""

    network: str
    element: str
    batch_size: int
    workers: int

    def __str__(self) -> str:
        return f"{self.network}-{self.element}-{self.batch_size}-{self.workers}"

    @property
    def samples(self) -> int:
        """Of an epoch: some tenths of a second in PyTorch, up to seconds in the larger network."""
        if self.network == "mnist":
            return max(256, 2 * self.batch_size)
        return 2000 if self.batch_size == 1 else 6000

    @property
    def target(self) -> float:
        """How often PyTorch's speed dahl is to reach."""
        if self.network == "mnist":
            return {"f32": 2.0, "f64": 4.0}.get(self.element, 1.0)
        return 10.0 if self.batch_size <= 10 else 8.0

    def arguments(self) -> list[str]:
        """What both programs are told."""
        settings = {"network": self.network, "type": self.element, "batch-size": self.batch_size}
        settings |= {"workers": self.workers, "samples": self.samples}
        return [text for name, value in settings.items() for text in (f"--{name}", str(value))]


SMALL = [
    Row("small", element, batch_size, workers)
    for element in ("f32", "f64")
    for batch_size in (1, 10, 100, 500)
    for workers in (1, 2)
]
MNIST = [
    Row("mnist", element, batch_size, workers)
    for element in ("f32", "f64", "bf16")
    for batch_size in (64, 256)
    for workers in (1, 2)
]
ROWS = SMALL + MNIST


def speed(measurement: dict) -> float:
    """Samples per second in the median epoch, the first one aside."""
    return Spread.of(measurement["samples_per_second"][1:]).median


class Programs:
    """Both programs. Each runs for about so many seconds after a first epoch."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.epochs: dict[Row, int] = {}
        self.formats: dict[Row, str] = {}
        self.memory: dict[Row, int | None] = {}
        self.learned: dict[str, dict[str, tuple[float, float]]] = {}
        self.version = ""

    @cached_property
    def throughput(self) -> str:
        return program.bench("dahl-benches", "throughput")

    @cached_property
    def train(self) -> program.Server:
        return program.Server([sys.executable, str(HERE / "train.py"), "--serve"])

    def try_out(self, row: Row) -> None:
        """Finds how many epochs dahl needs to fill the seconds, which memory format is the faster in PyTorch, the memory
        that PyTorch needs (a forked process does not count all that was loaded before), and what both learn."""
        print(f"trying {row}", file=sys.stderr, flush=True)
        command = [self.throughput, *row.arguments(), "--epochs", "3"]
        own = program.lines(command)[-1]
        epoch_seconds = row.samples / speed(own)
        self.epochs[row] = 1 + max(2, round(self.seconds / epoch_seconds))
        formats = ["contiguous", "channels_last"] if row.network == "mnist" else ["contiguous"]
        if len(formats) > 1:
            # In turn, and the best of each: one slow moment would choose for all rounds.
            tried = [(speed(self.torch(row, name, "--epochs", "3")), name) for name in formats * 2]
            formats.sort(key=lambda name: max(found for found, of in tried if of == name), reverse=True)
        self.formats[row] = formats[0]
        command = [sys.executable, str(HERE / "train.py"), *row.arguments(), "--memory-format", formats[0]]
        other = program.lines([*command, "--epochs", "3"])[-1]
        self.memory[row] = other["peak_resident_bytes"]
        if row.workers == 1:
            told = {"dahl": own, "PyTorch": other}
            name = str(row).removesuffix("-1")
            self.learned[name] = {side: (of["loss"], of["accuracy"]) for side, of in told.items()}

    def dahl(self, row: Row) -> dict:
        return program.lines([self.throughput, *row.arguments(), "--epochs", str(self.epochs[row])])[-1]

    def torch(self, row: Row, memory_format: str = "", *more: str) -> dict:
        memory_format = memory_format or self.formats[row]
        command = [*row.arguments(), "--memory-format", memory_format]
        command += more or ["--seconds", str(self.seconds)]
        measurement = self.train.answer(command)
        self.version = f"PyTorch {measurement['version']}"
        return measurement | {"peak_resident_bytes": self.memory.get(row)}
