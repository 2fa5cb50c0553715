"""A case of `make_layers.py`: a layer, its inputs, and how it is called."""

import zlib

import torch
from torch import nn

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)


class Draw:
    def __init__(self, name):
        self.random = torch.Generator().manual_seed(zlib.crc32(name.encode()))

    def normal(self, *shape):
        return torch.randn(shape, generator=self.random)

    def parameter(self, name, shape):
        """Of the size that layers start with; norms have weights around 1."""
        drawn = self.normal(*shape)
        if len(shape) > 1:
            return drawn / (drawn[0].numel() ** 0.5)
        return 1.0 + 0.2 * drawn if "weight" in name else 0.2 * drawn


class Case:
    """A module, the shapes of its inputs, how it is called, and how in the types with fewer digits, if not so."""

    def __init__(self, module, shape, call=None, memory=None, own=None):
        self.module, self.shape, self.memory = module, shape, memory
        self.call = call or (lambda module, x: module(x))
        self.own = Case(module, shape, own) if own else self

    def draw(self, name):
        draw = Draw(name)
        values = {"x": draw.normal(*self.shape)}
        if self.memory:
            values["memory"] = draw.normal(*self.memory)
        for key, parameter in self.module.named_parameters():
            values[key] = draw.parameter(key, parameter.shape)
        values["by_output"] = draw.normal(*self.results(values).shape)
        return values

    def results(self, values):
        """The output; `values` that need gradients get them."""
        inputs = tuple(values[key] for key in ("x", "memory") if key in values)
        state = {key: values[key] for key, _ in self.module.named_parameters()}
        return torch.func.functional_call(Called(self), {f"module.{key}": value for key, value in state.items()}, inputs)


class Called(nn.Module):
    def __init__(self, case):
        super().__init__()
        self.module, self.call = case.module, case.call

    def forward(self, *inputs):
        return self.call(self.module, *inputs)
