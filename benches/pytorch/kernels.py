"""Rows of kernels on one core: convolutions, matrix products, maps; against PyTorch, and against what the core can do."""

import json
import sys
from functools import cached_property

from comparison import program

HERE = program.ROOT / "benches" / "pytorch"
DIRECTIONS = ["forward", "backward_input", "backward_filters"]
SIDES_OF_GEMM = [256, 512, 1024, 2048]

# Of convolutions whose names begin so: from few channels, with which nothing may be tuned to four filters, and from many.
FEW, MANY = ["64 x 1->3,", "64 x 1->4,", "64 x 1->5,"], ["64 x 32->64,", "64 x 64->64,"]

# Shares of the limit that are to be reached, by type; those of f16 are of the limit in f32, in which it computes.
CONVOLUTION_TARGETS = {"f32": 0.75, "f64": 0.75}
GEMM_TARGETS = {"f32": 0.85, "f64": 0.85, "f16": 0.5}
# The share of a copy's bandwidth that maps and reductions are to reach.
BANDWIDTH_TARGET = 0.85
# How much fewer operations per second 3 and 5 filters may have than 4.
UNEVEN = 0.15


class Convolutions:
    """Rows are element types; a measurement has every case and direction, `case/direction` or `case/direction/format`."""

    ROWS = ("f32", "f64", "bf16")

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    @cached_property
    def bench(self) -> str:
        return program.bench("dahl-benches", "convolution")

    @cached_property
    def peak(self) -> str:
        return program.bench("dahl-benches", "peak")

    @cached_property
    def cases(self) -> list[dict]:
        """The cases as dahl has them, which PyTorch is told."""
        return [program.lines([self.bench, "--json", "--type", "f32", "--case", name])[0] for name in FEW + MANY]

    def dahl(self, element: str) -> dict:
        speeds = dict(program.lines([self.peak])[0])
        for name in FEW + MANY:
            line = program.lines([self.bench, "--json", "--type", element, "--case", name])[0]
            speeds |= {f"{line['case']}/{direction}": line[direction] for direction in DIRECTIONS}
        return speeds

    def torch(self, element: str) -> dict:
        command = [sys.executable, str(HERE / "conv.py"), "--type", element, "--seconds", str(self.seconds)]
        for case in self.cases:
            command += ["--case", json.dumps(case)]
        lines = program.lines(command, OMP_NUM_THREADS="1")
        return {
            f"{line['case']}/{direction}/{line['format']}": line[direction]
            for line in lines
            for direction in DIRECTIONS
        }


class Products:
    """Rows are element types; a measurement has the speed of each size."""

    ROWS = ("f32", "f64", "f16", "bf16")

    def __init__(self, seconds: float, largest: int = SIDES_OF_GEMM[-1]) -> None:
        self.seconds = seconds
        self.sizes = [size for size in SIDES_OF_GEMM if size <= largest]

    @staticmethod
    def is_there() -> bool:
        """Whether dahl has the bench, and it answers `--json --type f32 --size 256` by a line with `size` and `gflops`."""
        source = program.ROOT / "benches" / "gemm.rs"
        return source.exists() and 'Long("json")' in source.read_text()

    @cached_property
    def bench(self) -> str:
        return program.bench("dahl-benches", "gemm")

    @cached_property
    def peak(self) -> str:
        return program.bench("dahl-benches", "peak")

    def dahl(self, element: str) -> dict:
        speeds = dict(program.lines([self.peak])[0])
        sizes = [text for size in self.sizes for text in ("--size", str(size))]
        for line in program.lines([self.bench, "--json", "--type", element, *sizes]):
            speeds[str(line["size"])] = line["gflops"]
        return speeds

    def torch(self, element: str) -> dict:
        # PyTorch multiplies f16 element by element: the largest would take half a minute.
        sizes = [size for size in self.sizes if element != "f16" or size <= 1024]
        command = [sys.executable, str(HERE / "gemm.py"), "--type", element, "--seconds", str(self.seconds)]
        for size in sizes:
            command += ["--size", str(size)]
        return {str(line["size"]): line["gflops"] for line in program.lines(command, OMP_NUM_THREADS="1")}


class Maps:
    """Rows are element types; a measurement has the bandwidth of each op, and that of a copy beside it. dahl alone."""

    ROWS = ("f32", "f64", "f16", "bf16")

    @cached_property
    def bench(self) -> str:
        return program.bench("dahl-benches", "bandwidth")

    def dahl(self, element: str) -> dict:
        lines = program.lines([self.bench, "--json", "--type", element])
        return {line["op"]: (line["gb_per_s"], line["copy_gb_per_s"]) for line in lines}
