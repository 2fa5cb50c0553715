"""Fractional max pooling by PyTorch, with the random numbers of dahl: writes pooling.json.

PyTorch takes the numbers of each plane in the order columns, rows for images, and in the order of the axes for volumes. Elements
are whole numbers that each element type has, bf16 too.
"""

import json
from pathlib import Path

import torch
from philox import uniform
from torch.nn import functional as F

def case(seed, shape, size, extents):
    axes, planes = len(size), shape[0] * shape[1]
    elements = torch.Size(shape).numel()
    x = torch.tensor([i * 7919 % 251 - 125.0 for i in range(elements)], dtype=torch.float64)
    x = x.reshape(shape).requires_grad_()
    numbers = torch.tensor([uniform(seed, i) for i in range(planes * axes)], dtype=torch.float64)
    samples = numbers.reshape(shape[0], shape[1], axes)
    pool = F.fractional_max_pool2d if axes == 2 else F.fractional_max_pool3d
    if axes == 2:
        samples = samples.flip(2)
    out, index = pool(x, size, output_size=extents, return_indices=True, _random_samples=samples)
    by_out = torch.arange(out.numel(), dtype=torch.float64).reshape(out.shape) % 13 - 6
    (out * by_out).sum().backward()
    flat = lambda tensor: tensor.detach().flatten().tolist()
    return {
        "seed": seed,
        "shape": shape,
        "size": size,
        "extents": extents,
        "x": flat(x),
        "out": flat(out),
        "index": flat(index),
        "by_out": flat(by_out),
        "by_x": flat(x.grad),
    }


cases = {
    "images": case(5, [2, 3, 12, 17], [2, 3], [7, 8]),
    "volumes": case(6, [2, 2, 7, 6, 9], [2, 1, 3], [4, 4, 5]),
}
path = Path(__file__).with_name("pooling.json")
path.write_text(json.dumps(cases) + "\n")
