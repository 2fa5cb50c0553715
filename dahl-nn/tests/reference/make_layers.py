#!/usr/bin/env python3
"""Makes `layers.safetensors` beside it: outputs and gradients of PyTorch's layers, for each element type.

    pip install torch numpy safetensors
    python3 dahl-nn/tests/reference/make_layers.py

A tensor is named `{case}/{element type}/{role}`. The roles are `value/{name}`, a parameter or the input `x` (and `memory`, the source
of a decoder), `output`, `by_output`, the gradient that the reverse pass starts with, and `by/{name}`, the gradients.

Values are drawn in f64 from a seed that is made of the case's name, and rounded: the types have the same cases. Results are what
PyTorch gives for the rounded values in f64, rounded. A half-precision result that is rounded once is within one unit in the last
place of that. Layers of several operations round between these, and where elements cancel no implementation is so close. If
PyTorch's own results in the type are not, `own` has their largest difference, as a share of the largest element of the result; of a
type in which they are so close by chance, that of the other type in half precision, in units in the last place. Layers that dahl
rounds once have none. That of convolutions is the one of PyTorch's convolution and its addition of the bias, one after the other,
where PyTorch rounds once in bf16 alone. Nor does its RNN round before it adds a bias: those of sequences of several lengths and of
dropout are the ones of PyTorch's single operations.
"""

import pathlib

import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from torch import nn

from attention_cases import ATTENTION
from layer_case import Case
from make_networks import GatLayer, GcnLayer, dropout, karate_club
from recurrent_cases import RECURRENT

HERE = pathlib.Path(__file__).parent
TOLERANCES = {"f16": (2**-10, 1e-5), "bf16": (2**-7, 1e-5), "f32": (1.3e-6, 1e-5), "f64": (1e-7, 1e-7)}
# The layers that dahl rounds between operations, or whose gradients read a rounded result: by the starts of their names.
ROUNDED_BETWEEN = (
    "conv", "embedding", "graph_", "gru", "lstm", "rnn", "multi_head_attention", "transformer", "prelu_of_channels",
    "sigmoid", "tanh", "softmax", "softmin", "log_softmax",
)  # fmt: skip
# Those of these names that dahl rounds once.
ROUNDED_ONCE = ("embedding_scores", "tanh_shrink")
TYPES = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64}


class Embedded(nn.Module):
    """Token vectors times the input, so that both have gradients."""

    def __init__(self, padding_idx=None):
        super().__init__()
        self.embedding = nn.Embedding(5, 4, padding_idx)

    def forward(self, x):
        return x * self.embedding(torch.tensor([[1, 0, 2], [4, 2, 0]]))


class Shared(nn.Module):
    """A table of vectors that also gives the scores of its tokens."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(5, 4)

    def forward(self, x):
        return F.linear(x, self.embedding.weight)


class RunningNorm(nn.BatchNorm2d):
    """A batch norm in evaluation, after other batches."""

    def __init__(self):
        super().__init__(3)
        self.running_mean = torch.tensor([0.5, -0.25, 0.125])
        self.running_var = torch.tensor([2.0, 0.75, 1.5])

    def forward(self, x):
        return F.batch_norm(x, self.running_mean, self.running_var, self.weight, self.bias)


def on_graph(module, x):
    return module(x, *karate_club())


def bias_after(module, x):
    """A convolution that is rounded before its bias is added."""
    axes = x.dim() - 2
    settings = [module.stride, module.padding]
    if module.transposed:
        run, settings = getattr(F, f"conv_transpose{axes}d"), [*settings, module.output_padding, module.groups, module.dilation]
    else:
        run, settings = getattr(F, f"conv{axes}d"), [*settings, module.dilation, module.groups]
    return run(x, module.weight, None, *settings) + module.bias.reshape(-1, *[1] * axes)


def convolution(module, shape):
    return Case(module, shape, own=bias_after)


IMAGES = (2, 4, 6, 5)

CASES = RECURRENT | ATTENTION | {
    "linear": Case(nn.Linear(5, 3), (2, 4, 5)),
    "linear_without_bias": Case(nn.Linear(5, 3, bias=False), (4, 5)),
    "embedding": Case(Embedded(), (2, 3, 4)),
    "embedding_padded": Case(Embedded(padding_idx=2), (2, 3, 4)),
    "embedding_scores": Case(Shared(), (2, 3, 4)),
    "conv1d": convolution(nn.Conv1d(4, 6, 3, stride=2, padding=2, dilation=2, groups=2), (2, 4, 9)),
    "conv2d": convolution(nn.Conv2d(4, 3, (3, 2), stride=(1, 2), padding=(1, 0)), IMAGES),
    "conv2d_without_bias": Case(nn.Conv2d(4, 3, 3, bias=False), IMAGES),
    "conv2d_in_groups": convolution(nn.Conv2d(4, 6, 3, stride=2, padding=2, dilation=2, groups=2), (2, 4, 7, 6)),
    "conv3d": convolution(nn.Conv3d(2, 3, 2), (2, 2, 3, 4, 3)),
    "conv3d_without_bias": Case(nn.Conv3d(2, 2, 2, bias=False), (2, 2, 3, 4, 3)),
    "conv_transpose1d": convolution(nn.ConvTranspose1d(4, 6, 3, stride=3, dilation=2, groups=2), (2, 4, 5)),
    "conv_transpose2d": convolution(nn.ConvTranspose2d(4, 3, 3, stride=2, padding=1, output_padding=1), IMAGES),
    "conv_transpose2d_without_bias": Case(nn.ConvTranspose2d(4, 3, 2, stride=2, bias=False), IMAGES),
    "conv_transpose3d": convolution(
        nn.ConvTranspose3d(2, 3, 2, stride=(1, 2, 1), padding=(0, 1, 0), output_padding=(0, 1, 0)), (2, 2, 3, 3, 2)
    ),
    "max_pool2d": Case(nn.MaxPool2d(2), IMAGES),
    "max_pool2d_overlapping": Case(nn.MaxPool2d(3, stride=2, padding=1), IMAGES),
    "avg_pool2d": Case(nn.AvgPool2d(2), IMAGES),
    "avg_pool2d_overlapping": Case(nn.AvgPool2d(3, stride=(2, 1), padding=1), IMAGES),
    "max_pool1d_dilated": Case(nn.MaxPool1d(3, stride=2, padding=1, dilation=2, ceil_mode=True), (2, 3, 10)),
    "max_pool2d_ceil": Case(nn.MaxPool2d((2, 3), stride=(3, 2), padding=(1, 1), dilation=(2, 1), ceil_mode=True), IMAGES),
    "max_pool3d": Case(nn.MaxPool3d(2, stride=1), (2, 2, 3, 4, 3)),
    "avg_pool1d": Case(nn.AvgPool1d(3, stride=2, padding=1, ceil_mode=True), (2, 3, 10)),
    "avg_pool2d_without_padding": Case(
        nn.AvgPool2d(3, stride=2, padding=1, ceil_mode=True, count_include_pad=False), IMAGES
    ),
    "avg_pool3d": Case(nn.AvgPool3d(2, stride=1, padding=1), (2, 2, 3, 4, 3)),
    "adaptive_max_pool": Case(nn.AdaptiveMaxPool2d((4, 2)), IMAGES),
    "adaptive_avg_pool": Case(nn.AdaptiveAvgPool2d((4, 2)), IMAGES),
    "adaptive_max_pool_of_sequences": Case(nn.AdaptiveMaxPool1d(4), (2, 3, 10)),
    "adaptive_avg_pool_of_volumes": Case(nn.AdaptiveAvgPool3d((2, 3, 2)), (2, 2, 3, 4, 3)),
    "constant_pad": Case(nn.ConstantPad2d((1, 2, 0, 3), 0.5), IMAGES),
    "reflection_pad": Case(nn.ReflectionPad2d((1, 2, 0, 3)), IMAGES),
    "replication_pad": Case(nn.ReplicationPad2d((1, 2, 0, 3)), IMAGES),
    "circular_pad": Case(nn.CircularPad2d((1, 2, 0, 3)), IMAGES),
    "reflection_pad_of_sequences": Case(nn.ReflectionPad1d((1, 3)), (2, 3, 5)),
    "replication_pad_of_volumes": Case(nn.ReplicationPad3d((1, 2, 0, 3, 1, 1)), (2, 2, 3, 4, 3)),
    "upsample_nearest": Case(nn.Upsample(scale_factor=(2, 3)), IMAGES),
    "upsample_nearest_to": Case(nn.Upsample(size=(4, 7)), IMAGES),
    "upsample_linear": Case(nn.Upsample(scale_factor=2, mode="linear"), (2, 3, 5)),
    "upsample_bilinear": Case(nn.Upsample(size=(4, 8), mode="bilinear"), IMAGES),
    "upsample_bilinear_aligned": Case(nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True), IMAGES),
    "upsample_trilinear": Case(nn.Upsample(scale_factor=2, mode="trilinear"), (2, 2, 3, 2, 3)),
    "pixel_shuffle": Case(nn.PixelShuffle(2), (2, 8, 3, 2)),
    "pixel_unshuffle": Case(nn.PixelUnshuffle(2), (2, 2, 6, 4)),
    "flatten": Case(nn.Flatten(), IMAGES),
    "reshape": Case(nn.Identity(), (6, 8), lambda module, x: x.reshape(3, -1, 4)),
    "batch_norm": Case(nn.BatchNorm1d(3), (4, 3, 5)),
    "batch_norm_of_images": Case(nn.BatchNorm2d(3), (4, 3, 5, 2)),
    "batch_norm_of_volumes": Case(nn.BatchNorm3d(3), (3, 3, 2, 3, 2)),
    "batch_norm_without_weight": Case(nn.BatchNorm1d(3, affine=False), (4, 3, 5)),
    "batch_norm_evaluating": Case(RunningNorm(), (4, 3, 5, 2)),
    "layer_norm": Case(nn.LayerNorm(5), (2, 3, 5)),
    "layer_norm_without_bias": Case(nn.LayerNorm(5, bias=False), (2, 3, 5)),
    "layer_norm_without_weight": Case(nn.LayerNorm(5, elementwise_affine=False), (2, 3, 5)),
    "rms_norm": Case(nn.RMSNorm(5, eps=1e-5), (2, 3, 5)),
    "rms_norm_without_weight": Case(nn.RMSNorm(5, eps=1e-5, elementwise_affine=False), (2, 3, 5)),
    "group_norm": Case(nn.GroupNorm(2, 6), (2, 6, 3, 2)),
    "group_norm_without_weight": Case(nn.GroupNorm(2, 6, eps=1e-3, affine=False), (2, 6, 3, 2)),
    "instance_norm": Case(nn.InstanceNorm1d(3), (2, 3, 7)),
    "instance_norm_of_images": Case(nn.InstanceNorm2d(3), (2, 3, 4, 5)),
    "dropout": Case(nn.Identity(), (5, 7), lambda module, x: dropout(x, 0.375, seed=9)),
    "relu": Case(nn.ReLU(), (5, 7)),
    "leaky_relu": Case(nn.LeakyReLU(), (5, 7)),
    "elu": Case(nn.ELU(), (5, 7)),
    "selu": Case(nn.SELU(), (5, 7)),
    "sigmoid": Case(nn.Sigmoid(), (5, 7)),
    "log_sigmoid": Case(nn.LogSigmoid(), (5, 7)),
    "softplus": Case(nn.Softplus(), (5, 7)),
    "softplus_scaled": Case(nn.Softplus(3.0, 2.5), (5, 7)),
    "silu": Case(nn.SiLU(), (5, 7)),
    "gelu": Case(nn.GELU(), (5, 7)),
    "gelu_tanh": Case(nn.GELU(approximate="tanh"), (5, 7)),
    "tanh": Case(nn.Tanh(), (5, 7)),
    "hard_sigmoid": Case(nn.Hardsigmoid(), (5, 7)),
    "hard_swish": Case(nn.Hardswish(), (5, 7)),
    "hard_tanh": Case(nn.Hardtanh(), (5, 7)),
    "softmax": Case(nn.Softmax(dim=1), (3, 6, 2)),
    "log_softmax": Case(nn.LogSoftmax(dim=-1), (3, 2, 6)),
    "softmin": Case(nn.Softmin(dim=1), (3, 6, 2)),
    "relu6": Case(nn.ReLU6(), (5, 7), lambda module, x: module(4.0 * x)),
    "hard_tanh_within": Case(nn.Hardtanh(-0.25, 0.75), (5, 7)),
    "threshold": Case(nn.Threshold(0.25, 2.0), (5, 7)),
    "hard_shrink": Case(nn.Hardshrink(), (5, 7)),
    "soft_shrink": Case(nn.Softshrink(), (5, 7)),
    "tanh_shrink": Case(nn.Tanhshrink(), (5, 7)),
    "softsign": Case(nn.Softsign(), (5, 7)),
    "mish": Case(nn.Mish(), (5, 7)),
    "celu": Case(nn.CELU(0.75), (5, 7)),
    "glu": Case(nn.GLU(dim=1), (3, 6, 2)),
    "prelu": Case(nn.PReLU(), (5, 7)),
    "prelu_of_channels": Case(nn.PReLU(4), IMAGES),
    "rrelu_evaluating": Case(nn.Identity(), (5, 7), lambda module, x: F.rrelu(x, training=False)),
    "graph_convolution": Case(GcnLayer(3, 4), (34, 3), on_graph),
    "graph_attention": Case(GatLayer(3, 4, 2), (34, 3), on_graph),
    "graph_attention_mean": Case(GatLayer(3, 4, 2, mean=True), (34, 3), on_graph),
}


def computed(case, values, dtype):
    """The output and the gradients, computed in a type."""
    case.module.to(dtype)
    values = {key: value.detach().to(dtype) for key, value in values.items()}
    by_output = values.pop("by_output")
    for value in values.values():
        value.requires_grad_()
    output = case.results(values)
    output.backward(by_output)
    made = {f"by/{key}": value.grad for key, value in values.items()}
    return {key: value.detach().double() for key, value in {"output": output, **made}.items()}


def own_difference(own, exact, type_name):
    """The largest difference of PyTorch's results in a type, as a share of each result's largest element, if it is more than is
    allowed."""
    relative, absolute = TOLERANCES[type_name]
    differences = {role: (own[role] - value).abs() for role, value in exact.items()}
    if all((differences[role] <= absolute + relative * value.abs()).all() for role, value in exact.items()):
        return None
    return max(differences[role].max() / value.abs().max() for role, value in exact.items())


def rounds_between(name):
    once = name in ROUNDED_ONCE or name.startswith("conv") and name.endswith("without_bias")
    return name.startswith(ROUNDED_BETWEEN) and not once


def main():
    tensors = {}
    for name, case in CASES.items():
        case.module.train()
        drawn = case.draw(name)
        for type_name, dtype in TYPES.items():
            values = {key: value.detach().to(dtype) for key, value in drawn.items()}
            exact = computed(case, values, torch.float64)
            try:
                own = computed(case.own, values, dtype)
            except NotImplementedError:  # it has no kernel for the type
                own = exact
            start = f"{name}/{type_name}"
            for key, value in values.items():
                tensors[f"{start}/{key if key == 'by_output' else f'value/{key}'}"] = value
            for role, value in exact.items():
                tensors[f"{start}/{role}"] = value.to(dtype)
            difference = own_difference(own, exact, type_name)
            if difference is not None and rounds_between(name):
                tensors[f"{start}/own"] = difference
        for one, other in [("f16", "bf16"), ("bf16", "f16")]:
            share, ratio = tensors.get(f"{name}/{other}/own"), TOLERANCES[one][0] / TOLERANCES[other][0]
            if share is not None:
                tensors.setdefault(f"{name}/{one}/own", share * ratio)
    tensors = {key: value.contiguous().clone() for key, value in tensors.items()}
    save_file(tensors, HERE / "layers.safetensors", {"torch": torch.__version__.split("+")[0]})
    print(len(CASES), "cases,", len(tensors), "tensors; PyTorch's own differences:")
    for key, value in tensors.items():
        if key.endswith("/own"):
            print(key, value.item())


if __name__ == "__main__":
    main()
