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

TYPES = {"bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64}
EPSILON = 1e-5
aten = torch.ops.aten


def attention(direction: str, dtype: torch.dtype, batch: int, heads: int, tokens: int, width: int):
    """The kernels of `scaled_dot_product_attention` on a CPU."""
    query, key, value, gradient = (torch.randn(batch, heads, tokens, width, dtype=dtype) for _ in range(4))
    if direction == "forward":
        return lambda: F.scaled_dot_product_attention(query, key, value, is_causal=True)
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
    return by_tape(lambda x, weight: F.rms_norm(x, [extent], weight, EPSILON), [x, weight], gradient)


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
    return by_tape(lambda x: F.cross_entropy(x, labels), [x], torch.ones((), dtype=dtype))


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


def by_tape(function, inputs: list[torch.Tensor], gradient: torch.Tensor):
    """The gradients of a function by all of its inputs, without its forward."""
    inputs = [x.requires_grad_() for x in inputs]
    with torch.enable_grad():
        out = function(*inputs)
    return lambda: torch.autograd.grad(out, inputs, gradient, retain_graph=True)


KINDS = [attention, layer_norm, rms_norm, softmax, gelu, permute, cross_entropy, adamw, embedding, bmm, convolution]
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
