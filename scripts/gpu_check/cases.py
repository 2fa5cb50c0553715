"""The rows of single operations that dahl's benchmark `operations` and `benches/pytorch/operations.py` measure, and of steps of a GPT.

Both programs get the same extents, whose order `benches/operations.rs` documents.
"""

import dataclasses
import math
from collections.abc import Callable

FORWARD, BOTH = ("forward",), ("forward", "backward")
ALL = ("forward", "backward_input", "backward_filters")
TYPES = {"f32": 4, "bf16": 2}
IMAGES, TINY_IMAGES = (64, 64, 56), (2, 4, 6)
ROWS, TINY_ROWS = (16384, 1024), (5, 8)
SECONDS = 0.1


@dataclasses.dataclass(frozen=True)
class Operation:
    """An operation of some extents, and in small ones that say nothing. `elements` are those that it has to read and to write at
    least; one with products has their `flops` instead."""

    name: str
    directions: tuple[str, ...]
    extents: tuple[int, ...]
    tiny: tuple[int, ...]
    elements: Callable[..., float] | None = None
    flops: Callable[..., float] | None = None
    kind: str = ""


def times(forward: float, backward: float, size: Callable[..., float] = lambda *extents: math.prod(extents)) -> Callable[..., float]:
    """So many times the size of the array."""
    return lambda direction, *extents: (forward if direction == "forward" else backward) * size(*extents)


def square(batch: int, channels: int, side: int, *_: int) -> int:
    return batch * channels * side**2


def resized(batch: int, channels: int, side: int, larger: int) -> int:
    return batch * channels * (side**2 + larger**2)


def padded(batch: int, channels: int, side: int, border: int) -> int:
    return resized(batch, channels, side, side + 2 * border)


def attention(direction: str, batch: int, heads: int, tokens: int, width: int) -> float:
    """Two products forward, five backward, of the half that is seen."""
    return (2 if direction == "forward" else 5) * batch * heads * tokens * (tokens + 1) * width


def convolution(_: str, *extents: int) -> float:
    batch, channels, filters, image, kernel, stride, padding, dilation, groups, transposed = extents
    size = image if transposed else (image + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1
    return 2 * batch * size**2 * channels * filters // groups * kernel**2


OPERATIONS = [
    Operation("attention_1024", BOTH, (8, 12, 1024, 64), (1, 2, 8, 4), flops=attention, kind="attention"),
    Operation("attention_4096", BOTH, (2, 12, 4096, 64), (1, 1, 9, 4), flops=attention, kind="attention"),
    Operation("bmm", FORWARD, (256, 128, 64, 128), (3, 4, 5, 6), flops=lambda _, *extents: 2 * math.prod(extents)),
    Operation("layer_norm", BOTH, ROWS, TINY_ROWS, times(2, 3)),
    Operation("rms_norm", BOTH, ROWS, TINY_ROWS, times(2, 3)),
    Operation("softmax", BOTH, ROWS, TINY_ROWS, times(2, 3)),
    Operation("heads", BOTH, (16, 12, 1024, 64), (2, 2, 3, 4), times(6, 6)),
    Operation("permute", FORWARD, (16, 1024, 12, 64), (2, 3, 4, 5), times(2, 2)),
    Operation("rotary", BOTH, (16, 12, 1024, 64), (2, 2, 3, 4), times(2, 2)),
    Operation("dropout", FORWARD, (1 << 24,), (64,), times(2, 2)),
    Operation("gelu", BOTH, (1 << 24,), (64,), times(2, 3)),
    Operation("cross_entropy", BOTH, (4096, 8192), (3, 5), times(1, 2)),
    Operation("cross_entropy_weighted", BOTH, (4096, 8192), (3, 5), times(1, 2)),
    Operation("embedding", BOTH, (50257, 768, 8192), (9, 4, 6), lambda direction, count, width, tokens: width * (2 * tokens if direction == "forward" else tokens + count)),
    Operation("adamw", ("step",), (1 << 24,), (64,), times(7, 7)),
    Operation("batch_norm", BOTH, IMAGES, TINY_IMAGES, times(2, 3, square)),
    Operation("group_norm", BOTH, (64, 64, 8, 56), (2, 4, 2, 6), times(2, 3, lambda batch, channels, _, side: batch * channels * side**2)),
    Operation("max_pool", BOTH, IMAGES, TINY_IMAGES, times(1.25, 1.25, square)),
    Operation("avg_pool", BOTH, IMAGES, TINY_IMAGES, times(1.25, 1.25, square)),
    Operation("upsample_nearest", BOTH, (64, 64, 28, 56), (2, 3, 4, 8), times(1, 1, resized)),
    Operation("upsample_linear", BOTH, (64, 64, 28, 56), (2, 3, 4, 8), times(1, 1, resized)),
    Operation("pad", FORWARD, (*IMAGES, 2), (*TINY_IMAGES, 2), times(1, 1, padded)),
    Operation("pad_reflect", BOTH, (*IMAGES, 2), (*TINY_IMAGES, 2), times(1, 1, padded)),
    Operation("lstm_cell", BOTH, (4096, 1024), (3, 4), times(7, 13)),
    Operation("gru_cell", BOTH, (4096, 1024), (3, 4), times(8, 15)),
    Operation("segment_sum", FORWARD, (16384, 64, 262144), (4, 3, 9), lambda _, count, width, rows: width * (rows + count)),
    Operation("segment_softmax", BOTH, (16384, 64, 262144), (4, 3, 9), times(2, 3, lambda _, width, rows: width * rows)),
    Operation("cumulative_sum", BOTH, ROWS, TINY_ROWS, times(2, 2)),
    Operation("conv_groups", ALL, (64, 128, 128, 28, 3, 1, 1, 1, 4, 0), (1, 4, 4, 5, 3, 1, 1, 1, 2, 0), flops=convolution, kind="convolution"),
    Operation("conv_depthwise", ALL, (64, 128, 128, 28, 3, 1, 1, 1, 128, 0), (1, 4, 4, 5, 3, 1, 1, 1, 4, 0), flops=convolution, kind="convolution"),
    Operation("conv_dilation", ALL, (64, 64, 64, 28, 3, 1, 2, 2, 1, 0), (1, 3, 3, 5, 3, 1, 2, 2, 1, 0), flops=convolution, kind="convolution"),
    Operation("conv_transposed", ALL, (64, 128, 64, 14, 4, 2, 1, 1, 1, 1), (1, 3, 2, 3, 4, 2, 1, 1, 1, 1), flops=convolution, kind="convolution"),
]


@dataclasses.dataclass(frozen=True)
class Row:
    """One figure of each program."""

    operation: Operation
    direction: str
    element: str
    extents: tuple[int, ...]

    @property
    def name(self) -> str:
        return f"{self.operation.name}-{self.direction}-{self.element}"

    @property
    def kind(self) -> str:
        return self.operation.kind or self.operation.name

    @property
    def unit(self) -> str:
        return "TFLOP/s" if self.operation.flops else "GB/s"

    @property
    def amount(self) -> float:
        """What one call does, in so many of the unit times a second."""
        if self.operation.flops:
            return self.operation.flops(self.direction, *self.extents) / 1e12
        assert self.operation.elements
        return self.operation.elements(self.direction, *self.extents) * TYPES[self.element] / 1e9

    def request(self) -> str:
        """The line for dahl's benchmark."""
        return " ".join(map(str, [self.kind, self.direction, self.element, 1, SECONDS, *self.extents]))


def rows(is_tiny: bool) -> list[Row]:
    return [
        Row(operation, direction, element, operation.tiny if is_tiny else operation.extents)
        for element in TYPES
        for operation in OPERATIONS
        for direction in operation.directions
    ]


@dataclasses.dataclass(frozen=True)
class Step:
    """A step of training a GPT on windows of a text: of dahl's benchmark `steps`, and of `benches/pytorch/models.py`."""

    network: str  # as the benchmark calls it
    element: str
    vocabulary: int  # of characters, or of words
    context: int
    width: int
    heads: int
    layers: int
    batch: int

    @property
    def name(self) -> str:
        return f"step-{self.network}-{self.element}-{self.batch}"

    @property
    def tokens(self) -> int:
        return self.batch * self.context


def steps(is_tiny: bool) -> list[Step]:
    if is_tiny:
        return [Step("gpt-tiny", "f32", 62, 8, 16, 2, 1, 2)]
    small = [Step("gpt", element, 62, 64, 128, 4, 4, 12) for element in TYPES]
    return small + [Step("gpt2", element, 50257, 256, 768, 12, 12, 4) for element in TYPES]
