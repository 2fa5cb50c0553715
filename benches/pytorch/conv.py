#!/usr/bin/env python3
"""Convolutions in PyTorch in their three directions, in GFLOP/s by the median call: a line of JSON for each case.

    python conv.py --type f32 --case '{"case": "64 to 64", "batch": 64, "in_channels": 64, "out_channels": 64,
                                       "kernel": 3, "padding": 1, "image": 32}'

The counterpart of `benches/convolution.rs --json`, whose lines are the cases. Each in the memory formats `contiguous`
(NCHW) and `channels_last` (NHWC).
"""

import argparse
import json

import torch
from clock import gflops

TYPES = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64}
FORMATS = {"contiguous": torch.contiguous_format, "channels_last": torch.channels_last}


def measured(case: dict, dtype: torch.dtype, memory_format: torch.memory_format, seconds: float) -> dict:
    """The speed of each direction."""
    batch, inputs, outputs = case["batch"], case["in_channels"], case["out_channels"]
    kernel, padding, image = case["kernel"], case["padding"], case["image"]
    size = image + 2 * padding + 1 - kernel

    def tensor(*shape: int) -> torch.Tensor:
        return torch.randn(shape).to(dtype).contiguous(memory_format=memory_format)

    images, filters = tensor(batch, inputs, image, image), tensor(outputs, inputs, kernel, kernel)
    gradient = tensor(batch, outputs, size, size)
    flops = 2 * batch * outputs * size**2 * inputs * kernel**2

    def backward(of_images: bool, of_filters: bool):
        wanted = [of_images, of_filters, False]
        return lambda: torch.ops.aten.convolution_backward(
            gradient, images, filters, None, [1, 1], [padding] * 2, [1, 1], False, [0, 0], 1, wanted
        )

    return {
        "forward": gflops(flops, lambda: torch.conv2d(images, filters, padding=padding), seconds),
        "backward_input": gflops(flops, backward(True, False), seconds),
        "backward_filters": gflops(flops, backward(False, True), seconds),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--type", choices=TYPES, default="f32")
    parser.add_argument("--workers", type=int, default=1, help="threads of an operation")
    parser.add_argument("--seconds", type=float, default=0.3, help="of measuring, for each direction")
    parser.add_argument("--case", type=json.loads, action="append", required=True, help="a case as JSON")
    settings = parser.parse_args()
    torch.set_num_threads(settings.workers)
    torch.manual_seed(42)
    with torch.no_grad():
        for case in settings.case:
            for name, memory_format in FORMATS.items():
                speeds = measured(case, TYPES[settings.type], memory_format, settings.seconds)
                print(json.dumps({"case": case["case"], "format": name, **speeds}))


if __name__ == "__main__":
    main()
