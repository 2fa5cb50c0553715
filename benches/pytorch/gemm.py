#!/usr/bin/env python3
"""Products of square matrices in PyTorch, in GFLOP/s by the median call: a line of JSON for each size.

    python gemm.py --type f32 --size 256 --size 512

The counterpart of `benches/gemm.rs --json`.
"""

import argparse
import json

import torch
from clock import gflops

TYPES = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--type", choices=TYPES, default="f32")
    parser.add_argument("--workers", type=int, default=1, help="threads of an operation")
    parser.add_argument("--seconds", type=float, default=0.3, help="of measuring, for each size")
    parser.add_argument("--size", type=int, action="append", required=True)
    settings = parser.parse_args()
    torch.set_num_threads(settings.workers)
    torch.manual_seed(42)
    with torch.no_grad():
        for size in settings.size:
            a, b, out = (torch.randn(size, size).to(TYPES[settings.type]) for _ in range(3))
            speed = gflops(2 * size**3, lambda a=a, b=b, out=out: torch.mm(a, b, out=out), settings.seconds)
            print(json.dumps({"size": size, "gflops": speed}))


if __name__ == "__main__":
    main()
