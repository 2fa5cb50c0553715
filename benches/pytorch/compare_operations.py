#!/usr/bin/env python3
"""Runs single operations of dahl and of PyTorch in turn, and writes docs/measurements/operations.md.

    target/pytorch/bin/python benches/pytorch/compare_operations.py
    target/pytorch/bin/python benches/pytorch/compare_operations.py --rows 'attention-*' 'bmm-*-f32-1'
    target/pytorch/bin/python benches/pytorch/compare_operations.py --again          the page from the last whole run

A row is `name-direction-type-workers`; `near-name-direction` compares shapes with each other, in f32 on one worker.
A run of some rows writes target/comparison/operations.md in place of the page.
"""

import argparse
import fnmatch
import json
import math
import pathlib
import random
import statistics
import sys
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benches"))

from comparison import page, program, rounds
from comparison.machine import Occasion
from comparison.spread import Spread, significant, times

HERE = pathlib.Path(__file__).resolve().parent
BYTES = {"bf16": 2, "f32": 4, "f64": 8}
# The share of a copy's bandwidth, and how much more than PyTorch's speed, that rows are to reach.
BANDWIDTH_TARGET = 0.85
SPEED_TARGETS = {"attention": 1.3, "bmm": 1.5, "convolution": 1.0}
# How far the time of an operation may be from the median of such shapes.
NEAR = 0.25
SEED, SHAPES = 45, 7


@dataclass(frozen=True)
class Operation:
    """An operation of some extents; `kind` and `extents` are those of `benches/operations.rs`."""

    name: str
    kind: str
    directions: tuple[str, ...]
    extents: tuple[int, ...]

    def flops(self, direction: str) -> float:
        """The operations of products that it needs; 0 if it has none."""
        if self.kind == "attention":
            batch, heads, tokens, width = self.extents
            # Two products forward, five backward, of the half that is seen.
            return (2 if direction == "forward" else 5) * batch * heads * tokens * (tokens + 1) * width
        if self.kind == "bmm":
            batch, rows, inner, cols = self.extents
            return 2 * batch * rows * inner * cols
        if self.kind == "convolution":
            batch, channels, filters, image, kernel, stride, padding, dilation, groups, transposed = self.extents
            size = image if transposed else (image + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1
            return 2 * batch * size**2 * channels * filters // groups * kernel**2
        return 0

    def elements(self, direction: str) -> int:
        """The elements that it has to read and to write at least."""
        forward = direction == "forward"
        if self.kind == "adamw":
            return 7 * self.extents[0]
        if self.kind == "embedding":
            count, width, tokens = self.extents
            return width * (2 * tokens if forward else tokens + count)
        if self.kind == "permute":
            return 2 * math.prod(self.extents)
        size = self.extents[0] * (self.extents[1] if len(self.extents) > 1 else 1)
        if self.kind == "cross_entropy":
            return size if forward else 2 * size
        return 2 * size if forward else 3 * size


BOTH = ("forward", "backward")
ALL = ("forward", "backward_input", "backward_filters")


def convolution(name: str, *extents: int) -> Operation:
    return Operation(name, "convolution", ALL, extents)


OPERATIONS = [
    *(Operation(f"attention_{tokens}", "attention", BOTH, (1, 8, tokens, 64)) for tokens in (256, 1024, 4096)),
    Operation("layer_norm", "layer_norm", BOTH, (16384, 768)),
    Operation("rms_norm", "rms_norm", BOTH, (16384, 768)),
    Operation("softmax", "softmax", BOTH, (16384, 1024)),
    Operation("gelu", "gelu", BOTH, (16_777_216,)),
    Operation("permute_matrix", "permute", ("forward",), (1, 4096, 4096, 1)),
    Operation("permute_nhwc", "permute", ("forward",), (32, 64, 3136, 1)),
    Operation("permute_heads", "permute", ("forward",), (32, 512, 12, 64)),
    Operation("cross_entropy", "cross_entropy", BOTH, (256, 50257)),
    Operation("adamw", "adamw", ("step",), (16_777_216,)),
    Operation("embedding", "embedding", BOTH, (50257, 768, 8192)),
    Operation("bmm_64x64x64", "bmm", ("forward",), (256, 64, 64, 64)),
    Operation("bmm_16x256x16", "bmm", ("forward",), (512, 16, 256, 16)),
    convolution("conv_groups", 16, 128, 128, 28, 3, 1, 1, 1, 4, 0),
    convolution("conv_depthwise", 16, 128, 128, 28, 3, 1, 1, 1, 128, 0),
    convolution("conv_dilation", 16, 64, 64, 28, 3, 1, 2, 2, 1, 0),
    convolution("conv_1x1", 16, 256, 64, 28, 1, 1, 0, 1, 1, 0),
    convolution("conv_7x7_stride_2", 8, 3, 64, 112, 7, 2, 3, 1, 1, 0),
    convolution("conv_transposed", 16, 128, 64, 14, 4, 2, 1, 1, 1, 1),
]
TYPES = ("f32", "f64")
# Kinds of operations that are measured in bf16 too.
IN_BF16 = ("attention", "layer_norm", "softmax", "gelu", "cross_entropy")


@dataclass(frozen=True)
class Row:
    """A row of the comparison."""

    operation: Operation
    direction: str
    element: str
    workers: int

    def __str__(self) -> str:
        return f"{self.operation.name}-{self.direction}-{self.element}-{self.workers}"

    def request(self, seconds: float) -> list[str]:
        operation = self.operation
        words = [operation.kind, self.direction, self.element, self.workers, seconds, *operation.extents]
        return [str(word) for word in words]


ROWS = [
    Row(operation, direction, element, workers)
    for operation in OPERATIONS
    for direction in operation.directions
    for element in (TYPES + ("bf16",) if operation.kind in IN_BF16 else TYPES)
    for workers in (1, 2)
]


def near(operation: Operation, dice: random.Random) -> Operation:
    """An operation of the kind with other extents near to its own."""

    def other(extent: int, step: int = 1) -> int:
        return max(step, round(extent * dice.uniform(0.7, 1.4) / step) * step)

    if operation.kind == "convolution":
        batch, channels, filters, image, kernel, stride, padding, dilation, groups, transposed = operation.extents
        if channels == filters == groups:
            channels = filters = groups = other(channels)
        else:
            channels, filters = other(channels, groups), other(filters, groups)
        extents = batch, channels, filters, other(image), kernel, stride, padding, dilation, groups, transposed
    elif operation.kind == "attention":
        batch, heads, tokens, width = operation.extents
        extents = batch, heads, other(tokens), other(width)
    else:
        extents = (operation.extents[0], *map(other, operation.extents[1:]))
    return Operation(f"near-{operation.name}", operation.kind, operation.directions, extents)


def neighbours() -> list[Row]:
    """Shapes of each kind that has products, drawn by a seed."""
    dice = random.Random(SEED)
    drawn = [near(operation, dice) for operation in OPERATIONS if operation.flops("forward") for _ in range(SHAPES)]
    # The time of attention with few tokens tells as much as with many.
    return [
        Row(operation, direction, "f32", 1)
        for operation in drawn
        if operation.name != "near-attention_4096"
        for direction in operation.directions
    ]


class Memory:
    """The peak memory of attention: a program of its own for each number of tokens."""

    TOKENS = (1024, 2048, 4096, 8192)

    def __init__(self, bench: str) -> None:
        self.bench = bench

    def table(self) -> str:
        base = self.peak(256, "forward")
        cells = [
            [f"{tokens:,}", *(f"{(self.peak(tokens, direction) - base) / 2**20:.1f}" for direction in BOTH)]
            for tokens in self.TOKENS
        ]
        return page.table([">tokens", ">forward, MiB", ">with backward, MiB"], cells)

    def peak(self, tokens: int, direction: str) -> int:
        server = program.Server([self.bench])
        server.answer(Row(Operation("", "attention", BOTH, (1, 8, tokens, 64)), direction, "f32", 1).request(0))
        status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
        server.process.stdin.close()
        server.process.wait()
        return int(status.partition("VmHWM:")[2].split()[0]) << 10


def measure(rows: list[Row], count: int, seconds: float) -> dict:
    """What was measured of each row, as JSON can keep it."""
    occasion = Occasion()
    bench = program.bench("dahl-benches", "operations")
    dahl, torch = program.Server([bench]), program.Server([sys.executable, str(HERE / "operations.py")])
    sides = {
        "dahl": lambda row: dahl.answer(row.request(seconds)),
        "PyTorch": lambda row: None if row.operation.name.startswith("near-") else torch.answer(row.request(seconds)),
    }
    measured = rounds.in_turn(rows, sides, count)
    kept = {json.dumps(row.request(0)): found for row, found in measured.items()}
    memory = Memory(bench).table() if any(row.operation.kind == "attention" for row in rows) else ""
    return {"about": occasion.text(count), "rows": kept, "memory": memory}


def of(found: dict, row: Row) -> dict | None:
    return found.get(json.dumps(row.request(0)))


def speeds(found: dict, targets: page.Targets) -> str:
    """The rows with products."""
    cells = []
    for row in ROWS:
        measured, flops = of(found, row), row.operation.flops(row.direction)
        if not measured or not flops:
            continue
        gflops = [
            significant(flops / statistics.median(one["seconds"] for one in measured[side]) / 1e9)
            for side in ("dahl", "PyTorch")
        ]
        ratio = Spread.of(rounds.ratios(measured, "PyTorch", "dahl", lambda one: one["seconds"]))
        target = SPEED_TARGETS[row.operation.kind]
        asked = f"{row.operation.kind}: {target} x the speed of PyTorch"
        met = targets.judge(asked, str(row), f"{ratio.median:.2f}", ratio.median >= target)
        cells.append([row.operation.name, row.direction, row.element, str(row.workers), *gflops, times(ratio), met])
    columns = ["operation", "direction", "type", ">workers", ">dahl, GFLOP/s", ">PyTorch", ">ratio", "met"]
    return page.table(columns, cells) if cells else ""


def bandwidths(found: dict, targets: page.Targets) -> str:
    """The rows that the memory should limit."""
    cells = []
    for row in ROWS:
        measured, elements = of(found, row), row.operation.elements(row.direction)
        if not measured or row.operation.flops(row.direction):
            continue
        gigabytes = elements * BYTES[row.element] / 1e9
        speed = [
            significant(gigabytes / statistics.median(one["seconds"] for one in measured[side]))
            for side in ("dahl", "PyTorch")
        ]
        share = Spread.of([gigabytes / one["seconds"] / one["copy_gb_per_s"] for one in measured["dahl"]])
        ratio = Spread.of(rounds.ratios(measured, "PyTorch", "dahl", lambda one: one["seconds"]))
        asked = f"{BANDWIDTH_TARGET:.0%} of the bandwidth of a copy"
        met = targets.judge(asked, str(row), f"{share.median:.0%}", share.median >= BANDWIDTH_TARGET)
        shown = share.text(lambda value: f"{value:.0%}")
        head = [row.operation.name, row.direction, row.element, str(row.workers)]
        cells.append([*head, *speed, times(ratio), shown, met])
    columns = ["operation", "direction", "type", ">workers", ">dahl, GB/s", ">PyTorch", ">ratio", ">of a copy", "met"]
    return page.table(columns, cells) if cells else ""


def nearby(found: dict, targets: page.Targets) -> str:
    """The time of shapes near to each other, for each operation of a product."""
    by_name: dict[tuple[str, str], list[tuple[float, str]]] = {}
    for row in neighbours():
        if measured := of(found, row):
            seconds = statistics.median(one["seconds"] for one in measured["dahl"])
            speed = row.operation.flops(row.direction) / seconds / 1e9
            shape = " ".join(map(str, row.operation.extents))
            by_name.setdefault((row.operation.name.removeprefix("near-"), row.direction), []).append((speed, shape))
    cells = []
    for (name, direction), speeds_of in by_name.items():
        ordered = sorted(speeds_of)
        median = statistics.median(speed for speed, _ in ordered)
        low, high = ordered[0][0] / median - 1, ordered[-1][0] / median - 1
        asked = f"{SHAPES} neighbouring shapes within {NEAR:.0%} of their median"
        met = targets.judge(asked, f"{name}-{direction}", f"{low:+.0%} to {high:+.0%}", max(-low, high) <= NEAR)
        cells.append([name, direction, significant(median), f"{low:+.0%}", f"{high:+.0%}", ordered[0][1], met])
    columns = ["operation", "direction", ">median, GFLOP/s", ">slowest", ">fastest", "extents of the slowest", "met"]
    return page.table(columns, cells) if cells else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", nargs="+", metavar="ROW", help="the rows, `*` and `?` for any; without it all")
    parser.add_argument("--list", action="store_true", help="shows the rows")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.1, help="of measuring each side of a row in each round")
    parser.add_argument("--again", action="store_true", help="writes the page from what the last whole run measured")
    settings = parser.parse_args()
    patterns = settings.rows or ["*"]
    rows = [row for row in ROWS + neighbours() if any(fnmatch.fnmatch(str(row), pattern) for pattern in patterns)]
    if settings.list:
        print("\n".join(dict.fromkeys(map(str, rows))))
        return
    kept = page.KEPT / ("operations.json" if settings.rows is None else "operations-some.json")
    page.KEPT.mkdir(parents=True, exist_ok=True)
    if not settings.again:
        kept.write_text(json.dumps(measure(rows, settings.rounds, settings.seconds)))
    result = json.loads(kept.read_text())
    target = ROOT / "docs" / "measurements" / "operations.md"
    if settings.rows is not None:
        target = page.draft(target)
    targets = page.Targets()
    sections = {
        "speeds": speeds(result["rows"], targets),
        "bandwidths": bandwidths(result["rows"], targets),
        "neighbours": nearby(result["rows"], targets),
        "memory": result["memory"],
    }
    for section, text in ({"targets": targets.text() + "\n" + result["about"]} | sections).items():
        if text:
            page.write(target, section, text)
            print(f"\n## {section}\n\n{text}")


if __name__ == "__main__":
    try:
        main()
    except program.ProgramError as error:
        sys.exit(str(error))
