#!/usr/bin/env python3
"""Single operations in PyTorch: answers each line `KIND DIRECTION TYPE WORKERS SECONDS EXTENT..` by a line of JSON.

The counterpart of `benches/operations.rs`, which documents the extents of each kind. The answer has the seconds of the
median call of three at least.
"""

import json
import statistics
import sys
import time

import torch
import torch.nn.functional as F

TYPES = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64}
EPSILON = 1e-5
aten = torch.ops.aten


def attention(direction: str, dtype: torch.dtype, batch: int, heads: int, tokens: int, width: int):
    """The kernels of `scaled_dot_product_attention`."""
    query, key, value, gradient = (torch.randn(batch, heads, tokens, width, dtype=dtype) for _ in range(4))
    if direction == "forward":
        return lambda: F.scaled_dot_product_attention(query, key, value, is_causal=True)
    if query.device.type != "cpu":
        return ByTape(lambda *inputs: F.scaled_dot_product_attention(*inputs, is_causal=True), [query, key, value], gradient)
    out, sums = aten._scaled_dot_product_flash_attention_for_cpu(query, key, value, 0.0, True)
    backward = aten._scaled_dot_product_flash_attention_for_cpu_backward
    return lambda: backward(gradient, query, key, value, out, sums, 0.0, True)


def layer_norm(direction: str, dtype: torch.dtype, rows: int, extent: int):
    x, gradient = torch.randn(rows, extent, dtype=dtype), torch.randn(rows, extent, dtype=dtype)
    weight, bias = torch.randn(extent, dtype=dtype), torch.randn(extent, dtype=dtype)
    if direction == "forward":
        return lambda: aten.native_layer_norm(x, [extent], weight, bias, EPSILON)
    _, mean, deviation = aten.native_layer_norm(x, [extent], weight, bias, EPSILON)
    wanted = [True, True, True]
    return lambda: aten.native_layer_norm_backward(gradient, x, [extent], mean, deviation, weight, bias, wanted)


def rms_norm(direction: str, dtype: torch.dtype, rows: int, extent: int):
    x, gradient = torch.randn(rows, extent, dtype=dtype), torch.randn(rows, extent, dtype=dtype)
    weight = torch.randn(extent, dtype=dtype)
    if direction == "forward":
        return lambda: F.rms_norm(x, [extent], weight, EPSILON)
    return ByTape(lambda x, weight: F.rms_norm(x, [extent], weight, EPSILON), [x, weight], gradient)


def softmax(direction: str, dtype: torch.dtype, rows: int, extent: int):
    x, gradient = torch.randn(rows, extent, dtype=dtype), torch.randn(rows, extent, dtype=dtype)
    if direction == "forward":
        return lambda: torch.softmax(x, 1)
    out = torch.softmax(x, 1)
    return lambda: aten._softmax_backward_data(gradient, out, 1, dtype)


def gelu(direction: str, dtype: torch.dtype, elements: int):
    x, gradient = torch.randn(elements, dtype=dtype), torch.randn(elements, dtype=dtype)
    return (lambda: F.gelu(x)) if direction == "forward" else lambda: aten.gelu_backward(gradient, x)


def permute(_: str, dtype: torch.dtype, batch: int, rows: int, columns: int, width: int):
    x = torch.randn(batch, rows, columns, width, dtype=dtype)
    return lambda: x.permute(0, 2, 1, 3).contiguous()


def cross_entropy(direction: str, dtype: torch.dtype, samples: int, classes: int):
    x, labels = torch.randn(samples, classes, dtype=dtype), torch.randint(0, classes, (samples,))
    if direction == "forward":
        return lambda: F.cross_entropy(x, labels)
    return ByTape(lambda x: F.cross_entropy(x, labels), [x], torch.ones((), dtype=dtype))


def adamw(_: str, dtype: torch.dtype, elements: int):
    """The fused step, which is the fastest of PyTorch's three."""
    parameter = torch.nn.Parameter(torch.full((elements,), 0.5, dtype=dtype))
    parameter.grad = torch.randn(elements, dtype=dtype)
    return torch.optim.AdamW([parameter], fused=True).step


def embedding(direction: str, dtype: torch.dtype, count: int, width: int, tokens: int):
    indices = torch.randint(0, count, (tokens,))
    if direction == "forward":
        table = torch.randn(count, width, dtype=dtype)
        return lambda: F.embedding(indices, table)
    rows = torch.randn(tokens, width, dtype=dtype)
    return lambda: aten.embedding_dense_backward(rows, indices, count, -1, False)


def bmm(_: str, dtype: torch.dtype, batch: int, rows: int, inner: int, cols: int):
    a, b = torch.randn(batch, rows, inner, dtype=dtype), torch.randn(batch, inner, cols, dtype=dtype)
    out = torch.empty(batch, rows, cols, dtype=dtype)
    return lambda: torch.bmm(a, b, out=out)


def convolution(direction: str, dtype: torch.dtype, *extents: int):
    """With images and filters in NHWC, which is the faster format."""
    batch, channels, filters, image, kernel, stride, padding, dilation, groups, transposed = extents
    reach = dilation * (kernel - 1) + 1
    size = (image + 2 * padding - reach) // stride + 1
    shape = [filters, channels // groups, kernel, kernel]
    if transposed:
        size = (image - 1) * stride + reach - 2 * padding
        shape = [channels, filters // groups, kernel, kernel]

    def tensor(*shape: int) -> torch.Tensor:
        return torch.randn(shape, dtype=dtype).contiguous(memory_format=torch.channels_last)

    images, weights, gradient = tensor(batch, channels, image, image), tensor(*shape), tensor(batch, filters, size, size)
    settings = [[stride] * 2, [padding] * 2, [dilation] * 2, bool(transposed), [0, 0], groups]
    if direction == "forward":
        return lambda: aten.convolution(images, weights, None, *settings)
    wanted = [direction == "backward_input", direction == "backward_filters", False]
    return lambda: aten.convolution_backward(gradient, images, weights, None, *settings, wanted)


def heads(direction: str, dtype: torch.dtype, batch: int, heads: int, tokens: int, width: int):
    """Each copy with one pass over memory, as `nn.MultiheadAttention` needs it."""
    features = torch.randn(batch, tokens, 3 * heads * width, dtype=dtype)
    of_heads = features.view(batch, tokens, 3, heads, width).permute(2, 0, 3, 1, 4)
    if direction == "forward":
        return lambda: of_heads.contiguous()
    parts = torch.randn(3, batch, heads, tokens, width, dtype=dtype)
    return lambda: of_heads.copy_(parts)


def rotary(direction: str, dtype: torch.dtype, batch: int, heads: int, tokens: int, width: int):
    """With the cosines and sines of a table."""
    x = torch.randn(batch, heads, tokens, width, dtype=dtype)
    frequencies = 10000.0 ** (-2 * torch.arange(width // 2) / width)
    angles = torch.arange(tokens)[:, None] * frequencies
    cos, sin = angles.cos().to(dtype), angles.sin().to(dtype)
    sin = sin if direction == "forward" else -sin

    def turn():
        first, second = x.chunk(2, dim=-1)
        return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)

    return turn


def cross_entropy_weighted(direction: str, dtype: torch.dtype, samples: int, classes: int):
    x, labels = torch.randn(samples, classes, dtype=dtype), torch.randint(0, classes, (samples,))
    weights = torch.full((classes,), 0.75, dtype=dtype)

    def loss(x):
        return F.cross_entropy(x, labels, weights, ignore_index=0, label_smoothing=0.1)

    return (lambda: loss(x)) if direction == "forward" else ByTape(loss, [x], torch.ones((), dtype=dtype))


def dropout(_: str, dtype: torch.dtype, elements: int):
    x = torch.randn(elements, dtype=dtype)
    return lambda: F.dropout(x, 0.1)


def cumulative_sum(direction: str, dtype: torch.dtype, rows: int, extent: int):
    x = torch.randn(rows, extent, dtype=dtype)
    return (lambda: x.cumsum(1)) if direction == "forward" else lambda: x.flip(1).cumsum(1).flip(1)


def of_arrays(direction: str, function, shape: tuple[int, ...], dtype: torch.dtype, *others: torch.Tensor):
    """A function of an array of this shape and others, or its gradients by all of these."""
    inputs = [torch.randn(shape, dtype=dtype), *others]
    if direction == "forward":
        return lambda: function(*inputs)
    with torch.no_grad():
        gradient = torch.randn_like(function(*inputs))
    return ByTape(function, inputs, gradient)


def batch_norm(direction: str, dtype: torch.dtype, batch: int, channels: int, side: int):
    def norm(x, weight, bias):
        return F.batch_norm(x, None, None, weight, bias, training=True, eps=EPSILON)

    weight, bias = torch.randn(channels, dtype=dtype), torch.randn(channels, dtype=dtype)
    return of_arrays(direction, norm, (batch, channels, side, side), dtype, weight, bias)


def group_norm(direction: str, dtype: torch.dtype, batch: int, channels: int, groups: int, side: int):
    def norm(x, weight, bias):
        return F.group_norm(x, groups, weight, bias, EPSILON)

    weight, bias = torch.randn(channels, dtype=dtype), torch.randn(channels, dtype=dtype)
    return of_arrays(direction, norm, (batch, channels, side, side), dtype, weight, bias)


def max_pool(direction: str, dtype: torch.dtype, batch: int, channels: int, side: int):
    """With indices, which its gradient reads."""
    shape = (batch, channels, side, side)
    if direction == "forward":
        x = torch.randn(shape, dtype=dtype)
        return lambda: F.max_pool2d(x, 3, 2, 1, return_indices=True)
    return of_arrays(direction, lambda x: F.max_pool2d(x, 3, 2, 1), shape, dtype)


def avg_pool(direction: str, dtype: torch.dtype, batch: int, channels: int, side: int):
    return of_arrays(direction, lambda x: F.avg_pool2d(x, 3, 2, 1), (batch, channels, side, side), dtype)


def upsample_nearest(direction: str, dtype: torch.dtype, batch: int, channels: int, side: int, larger: int):
    return of_arrays(direction, lambda x: F.interpolate(x, size=(larger, larger)), (batch, channels, side, side), dtype)


def upsample_linear(direction: str, dtype: torch.dtype, batch: int, channels: int, side: int, larger: int):
    def interpolate(x):
        return F.interpolate(x, size=(larger, larger), mode="bilinear", align_corners=False)

    return of_arrays(direction, interpolate, (batch, channels, side, side), dtype)


def pad(direction: str, dtype: torch.dtype, batch: int, channels: int, side: int, border: int):
    return of_arrays(direction, lambda x: F.pad(x, [border] * 4), (batch, channels, side, side), dtype)


def pad_reflect(direction: str, dtype: torch.dtype, batch: int, channels: int, side: int, border: int):
    return of_arrays(direction, lambda x: F.pad(x, [border] * 4, mode="reflect"), (batch, channels, side, side), dtype)


def lstm_cell(direction: str, dtype: torch.dtype, samples: int, width: int):
    def cell(gates, state):
        enter, forget, candidate, leave = gates.chunk(4, 1)
        following = forget.sigmoid() * state + enter.sigmoid() * candidate.tanh()
        return torch.stack((leave.sigmoid() * following.tanh(), following))

    state = torch.randn(samples, width, dtype=dtype)
    return of_arrays(direction, cell, (samples, 4 * width), dtype, state)


def gru_cell(direction: str, dtype: torch.dtype, samples: int, width: int):
    def cell(of_input, of_hidden, hidden):
        (reset_x, update_x, new_x), (reset_h, update_h, new_h) = of_input.chunk(3, 1), of_hidden.chunk(3, 1)
        update = (update_x + update_h).sigmoid()
        return torch.lerp((new_x + (reset_x + reset_h).sigmoid() * new_h).tanh(), hidden, update)

    of_hidden, hidden = torch.randn(samples, 3 * width, dtype=dtype), torch.randn(samples, width, dtype=dtype)
    return of_arrays(direction, cell, (samples, 3 * width), dtype, of_hidden, hidden)


def segment_sum(_: str, dtype: torch.dtype, count: int, width: int, rows: int):
    x, segments = torch.randn(rows, width, dtype=dtype), torch.randint(0, count, (rows,))
    return lambda: x.new_zeros(count, width).index_add_(0, segments, x)


def segment_softmax(direction: str, dtype: torch.dtype, count: int, width: int, rows: int):
    x, segments = torch.randn(rows, width, dtype=dtype), torch.randint(0, count, (rows,))
    of_rows = segments[:, None].expand(-1, width)

    def totals(x):
        return x.new_zeros(count, width).index_add_(0, segments, x)

    def forward():
        largest = x.new_full((count, width), -torch.inf).scatter_reduce_(0, of_rows, x, "amax")
        powers = (x - largest[segments]).exp()
        return powers / totals(powers)[segments]

    if direction == "forward":
        return forward
    out, gradient = forward(), torch.randn(rows, width, dtype=dtype)
    return lambda: out * (gradient - totals(out * gradient)[segments])


class ByTape:
    """The gradients of a function by all of its inputs, without its forward."""

    def __init__(self, function, inputs: list[torch.Tensor], gradient: torch.Tensor) -> None:
        self.function, self.inputs, self.gradient = function, [x.requires_grad_() for x in inputs], gradient
        with torch.enable_grad():
            self.out = function(*self.inputs)

    def __call__(self) -> tuple[torch.Tensor, ...]:
        return torch.autograd.grad(self.out, self.inputs, self.gradient, retain_graph=True)

    def compiled(self) -> "ByTape":
        """The same, by `torch.compile`."""
        return ByTape(torch.compile(self.function), self.inputs, self.gradient)


KINDS = [attention, heads, rotary, layer_norm, rms_norm, softmax, gelu, permute, cross_entropy, cross_entropy_weighted]
KINDS += [dropout, cumulative_sum, adamw, embedding, segment_sum, segment_softmax, bmm, convolution]
KINDS += [batch_norm, group_norm, max_pool, avg_pool, upsample_nearest, upsample_linear, pad, pad_reflect, lstm_cell, gru_cell]
KINDS_BY_NAME = {kind.__name__: kind for kind in KINDS}


def median_seconds(call, seconds: float) -> float:
    call()
    times = []
    began = time.perf_counter()
    while len(times) < 3 or time.perf_counter() - began < seconds:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main() -> None:
    torch.manual_seed(42)
    for line in sys.stdin:
        kind, direction, element, workers, seconds, *extents = line.split()
        torch.set_num_threads(int(workers))
        with torch.no_grad():
            call = KINDS_BY_NAME[kind](direction, TYPES[element], *map(int, extents))
            print(json.dumps({"seconds": median_seconds(call, float(seconds))}), flush=True)


if __name__ == "__main__":
    main()
