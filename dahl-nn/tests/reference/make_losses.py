#!/usr/bin/env python3
"""Makes `losses.safetensors` beside it: PyTorch's losses and their gradients, for each element type.

    pip install torch numpy safetensors
    python3 dahl-nn/tests/reference/make_losses.py

A tensor is named `{case}/{element type}/{role}`. The roles are the inputs (`output`, `target`, `weights`, ..), `each`, `sum` and
`mean`, the losses in PyTorch's three reductions, and the gradients of the mean: `by_output`, and `by_left` and `by_right` of a loss of pairs.


Inputs are drawn in f64 from a seed that is made of the case's name, and rounded: the types have the same cases. Results are what
PyTorch gives in that type on a CPU. Where that is not well within the tolerances (those of `torch.testing.assert_close` in f32 and
f64, one unit in the last place in f16 and bf16) of what PyTorch gives for the same inputs in f64, which happens where it rounds between steps or has no kernel for the type, the result in f64 is taken,
rounded.
"""

import pathlib
import zlib

import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from torch import nn

HERE = pathlib.Path(__file__).parent
TYPES = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64}
TOLERANCES = {"f16": (2**-10, 1e-5), "bf16": (2**-7, 1e-5), "f32": (1.3e-6, 1e-5), "f64": (1e-7, 1e-7)}
SHARE = 0.6  # of the tolerance: what is farther from the result in f64 is taken from there

torch.set_num_threads(1)


class Draw:
    def __init__(self, name):
        self.random = torch.Generator().manual_seed(zlib.crc32(name.encode()))

    def normal(self, *shape):
        return torch.randn(shape, generator=self.random, dtype=torch.float64)

    def uniform(self, *shape):
        return torch.rand(shape, generator=self.random, dtype=torch.float64)

    def integers(self, below, *shape):
        return torch.randint(below, shape, generator=self.random)

    def signs(self, *shape):
        return 2.0 * self.integers(2, *shape).to(torch.float64) - 1.0


def elementwise(make):
    """A loss of `output` and `target`, both given by `make(draw)`."""

    def inputs(draw):
        output, target = make(draw)
        return {"output": output, "target": target}

    return inputs


SHAPE = (5, 7)
numbers = elementwise(lambda draw: (3.0 * draw.normal(*SHAPE), draw.normal(*SHAPE)))
probabilities = elementwise(lambda draw: (0.02 + 0.96 * draw.uniform(*SHAPE), draw.uniform(*SHAPE)))
logits = elementwise(lambda draw: (4.0 * draw.normal(*SHAPE), draw.uniform(*SHAPE).round()))
logarithms = elementwise(
    lambda draw: (F.log_softmax(draw.normal(*SHAPE), 1), F.softmax(2.0 * draw.normal(*SHAPE), 1))
)
two_logarithms = elementwise(
    lambda draw: (F.log_softmax(draw.normal(*SHAPE), 1), F.log_softmax(2.0 * draw.normal(*SHAPE), 1))
)
distances = elementwise(lambda draw: (2.0 * draw.uniform(*SHAPE), draw.signs(*SHAPE)))
IGNORED = 3


def labelled(weights, is_logarithm):
    def inputs(draw):
        output = 3.0 * draw.normal(13, 6)
        given = {"output": F.log_softmax(output, 1) if is_logarithm else output, "labels": draw.integers(6, 13)}
        if weights:
            given["weights"] = 0.25 + draw.uniform(6)
        return given

    return inputs


def pairs(draw):
    return {"left": draw.normal(9, 16), "right": draw.normal(9, 16), "target": draw.signs(9)}


def sequences(draw):
    """Nine steps. The second target has equal neighbours; the third is empty; the fourth is too long for its input."""
    targets = torch.tensor([[1, 2, 3, 0], [4, 4, 1, 1], [0, 0, 0, 0], [2, 2, 2, 2]])
    return {
        "output": F.log_softmax(draw.normal(9, 4, 5), 2),
        "targets": targets,
        "input_lengths": torch.tensor([9, 7, 6, 4]),
        "target_lengths": torch.tensor([3, 4, 0, 4]),
    }


def ctc(given, reduction):
    """With the derivative by the logarithms as they are. PyTorch's has the gradient of `exp(output)` besides, at the steps that count
    of sequences whose loss is finite: it assumes a log-softmax above, which takes that away."""
    output, lengths = given["output"], given["target_lengths"]
    loss = nn.CTCLoss(reduction=reduction, zero_infinity=True)
    loss = loss(output, given["targets"], given["input_lengths"], lengths)
    if reduction != "mean":
        return loss
    steps = torch.arange(9)[:, None] < given["input_lengths"]
    counts = steps & torch.tensor([True, True, True, False])
    besides = (output.exp().sum(2) * counts / lengths.clamp(min=1) / 4).sum()
    return loss - (besides - besides.detach())


def of_labels(Loss, **options):
    def loss(given, reduction):
        if "weights" in given:
            return Loss(weight=given["weights"], reduction=reduction, **options)(given["output"], given["labels"])
        return Loss(reduction=reduction, **options)(given["output"], given["labels"])

    return loss


def of_elements(Loss, **options):
    return lambda given, reduction: Loss(reduction=reduction, **options)(given["output"], given["target"])


def positive_weight(given, reduction):
    loss = nn.BCEWithLogitsLoss(pos_weight=given["pos_weight"], reduction=reduction)
    return loss(given["output"], given["target"])


def of_pairs(given, reduction):
    loss = nn.CosineEmbeddingLoss(margin=0.1, reduction=reduction)
    return loss(given["left"], given["right"], given["target"])


CASES = {
    "mse": (numbers, of_elements(nn.MSELoss)),
    "l1": (numbers, of_elements(nn.L1Loss)),
    "huber": (numbers, of_elements(nn.HuberLoss)),
    "huber_0.5": (numbers, of_elements(nn.HuberLoss, delta=0.5)),
    "smooth_l1": (numbers, of_elements(nn.SmoothL1Loss)),
    "smooth_l1_2": (numbers, of_elements(nn.SmoothL1Loss, beta=2.0)),
    "smooth_l1_0": (numbers, of_elements(nn.SmoothL1Loss, beta=0.0)),
    "bce": (probabilities, of_elements(nn.BCELoss)),
    "bce_with_logits": (logits, of_elements(nn.BCEWithLogitsLoss)),
    "bce_with_logits_pos_weight": (lambda draw: {**logits(draw), "pos_weight": 0.5 + 2.0 * draw.uniform(7)}, positive_weight),
    "kl_div": (logarithms, of_elements(nn.KLDivLoss)),
    "kl_div_batch_mean": (logarithms, lambda given, reduction: nn.KLDivLoss(
        reduction="batchmean" if reduction == "mean" else reduction)(given["output"], given["target"])),
    "kl_div_log_target": (two_logarithms, of_elements(nn.KLDivLoss, log_target=True)),
    "hinge_embedding": (distances, of_elements(nn.HingeEmbeddingLoss)),
    "hinge_embedding_0.7": (distances, of_elements(nn.HingeEmbeddingLoss, margin=0.7)),
    "cosine_embedding": (pairs, of_pairs),
    "nll": (labelled(False, True), of_labels(nn.NLLLoss)),
    "nll_weights_ignore": (labelled(True, True), of_labels(nn.NLLLoss, ignore_index=IGNORED)),
    "cross_entropy": (labelled(False, False), of_labels(nn.CrossEntropyLoss)),
    "cross_entropy_weights": (labelled(True, False), of_labels(nn.CrossEntropyLoss)),
    "cross_entropy_ignore": (labelled(False, False), of_labels(nn.CrossEntropyLoss, ignore_index=IGNORED)),
    "cross_entropy_smoothing": (labelled(False, False), of_labels(nn.CrossEntropyLoss, label_smoothing=0.1)),
    "cross_entropy_all": (
        labelled(True, False),
        of_labels(nn.CrossEntropyLoss, ignore_index=IGNORED, label_smoothing=0.2),
    ),
    "ctc": (sequences, ctc),
}


def results(given, loss):
    """The losses, and the gradients of the mean."""
    given = {role: value.clone() for role, value in given.items()}
    wanted = [role for role in ("output", "left", "right") if role in given]
    for role in wanted:
        given[role].requires_grad_()
    made = {"each": loss(given, "none"), "sum": loss(given, "sum"), "mean": loss(given, "mean")}
    made["mean"].backward()
    made.update({f"by_{role}": given[role].grad for role in wanted})
    return {role: value.detach() for role, value in made.items()}


def is_close(got, expected, name):
    relative, absolute = TOLERANCES[name]
    difference = (got.to(torch.float64) - expected).abs()
    return bool((difference <= SHARE * (absolute + relative * expected.abs())).all())


tensors, taken = {}, {}
for case, (make, loss) in CASES.items():
    exact = make(Draw(case))
    for name, dtype in TYPES.items():
        given = {role: value.to(dtype) if value.is_floating_point() else value for role, value in exact.items()}
        widened = {role: value.double() if value.is_floating_point() else value for role, value in given.items()}
        expected = results(widened, loss)
        try:
            made = results(given, loss)
        except RuntimeError:
            made = {}
        for role, value in expected.items():
            if role in made and is_close(made[role], value, name):
                value = made[role]
            else:
                taken.setdefault(name, []).append(f"{case}/{role}")
            tensors[f"{case}/{name}/{role}"] = value.to(dtype).clone()
        for role, value in given.items():
            tensors[f"{case}/{name}/{role}"] = value.clone()

metadata = {"torch": torch.__version__.split("+")[0]}
metadata.update({f"from f64 in {name}": " ".join(cases) for name, cases in taken.items()})
save_file(tensors, HERE / "losses.safetensors", metadata)
for name, cases in taken.items():
    print(name, len(cases), *cases)
