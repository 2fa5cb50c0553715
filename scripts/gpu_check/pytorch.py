#!/usr/bin/env python3
"""PyTorch's side of the comparison on a CUDA device: a line of JSON for each figure, eager and compiled.

    python pytorch.py --seconds 200 --data dahl-nn/data/fashion-mnist train-mnist-f32-100 ..

All eager rows come first, then compiled ones while there is time; a line for each row that was not measured says why. Everything is
timed by the clock of the host around a wait for the device. `--tiny` runs on the CPU, in sizes that say nothing, to show that it
works.
"""

import argparse
import functools
import gzip
import itertools
import json
import pathlib
import sys
import time
from collections.abc import Callable, Iterator

import cases
import torch
import torch._functorch.config
from torch import nn

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "benches" / "pytorch"))
import models
import operations

TYPES = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64}


def synchronize() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def seconds_of(call: Callable[[], object]) -> float:
    """The median of calls for a tenth of a second, after some to warm up."""
    for _ in range(3):
        call()
    synchronize()
    measured, began = [], time.perf_counter()
    while time.perf_counter() - began < 0.1 or len(measured) < 5:
        start = time.perf_counter()
        call()
        synchronize()
        measured.append(time.perf_counter() - start)
    return sorted(measured)[len(measured) // 2]


class Row:
    """A figure: what is timed, and how much it does."""

    def __init__(self, name: str, function: Callable, inputs: tuple, amount: float, unit: str) -> None:
        self.name, self.function, self.inputs, self.amount, self.unit = name, function, inputs, amount, unit

    def measure(self, kind: str) -> float:
        function = torch.compile(self.function) if kind == "compiled" else self.function
        return self.amount / seconds_of(lambda: function(*self.inputs))


class OperationRow:
    """A figure of one of the operations that `benches/pytorch/operations.py` has."""

    def __init__(self, row: cases.Row, device: str) -> None:
        self.name, self.unit, self.amount = row.name, row.unit, row.amount
        with torch.device(device), torch.no_grad():
            self.call = operations.KINDS_BY_NAME[row.kind](row.direction, TYPES[row.element], *row.extents)

    def measure(self, kind: str) -> float:
        call = self.call
        if kind == "compiled":
            call = call.compiled() if isinstance(call, operations.ByTape) else torch.compile(call)
        with torch.no_grad():
            return self.amount / seconds_of(call)


class Step:
    """Steps of training a GPT: gradients whose norm is at most 1, and an update by AdamW."""

    unit = "tokens/s"

    def __init__(self, step: cases.Step, device: str) -> None:
        self.name, self.tokens = step.name, step.tokens
        torch.manual_seed(42)
        model = models.Gpt(step.vocabulary, step.context, step.width, step.heads, step.layers)
        for parameter in model.parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, std=0.02)
        self.model = model.to(TYPES[step.element]).to(device)
        fused = {"fused": True} if device == "cuda" else {}
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-4, weight_decay=0.1, **fused)
        self.text = torch.randint(0, step.vocabulary, (step.batch, step.context + 1), device=device)

    def loss(self) -> torch.Tensor:
        scores = self.model(self.text[:, :-1])
        return nn.functional.cross_entropy(scores.view(-1, scores.shape[-1]), self.text[:, 1:].reshape(-1))

    def measure(self, kind: str) -> float:
        loss_of = torch.compile(self.loss) if kind == "compiled" else self.loss

        def step() -> None:
            self.optimizer.zero_grad()
            loss_of().backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()

        return self.tokens / seconds_of(step)


def kernels(device: str, tiny: bool) -> Iterator[Row]:
    """Copies, maps, reductions along every axis, and matrix products."""
    elements = 1 << (12 if tiny else 26)
    for element, dtype in TYPES.items():
        x, y = (torch.randn(elements, device=device, dtype=torch.float32).to(dtype) for _ in range(2))
        gigabytes = elements * dtype.itemsize / 1e9
        target = torch.empty_like(x)
        yield Row(f"copy-{element}", target.copy_, (x,), 2 * gigabytes, "GB/s")
        yield Row(f"map-{element}", lambda x, y: torch.nn.functional.silu(x) * 0.5 + y, (x, y), 3 * gigabytes, "GB/s")
        block = x.view(1 << (4 if tiny else 8), -1, 1 << (4 if tiny else 9))
        for axis in (0, 1, 2):
            yield Row(f"sum-{element}-axis{axis}", lambda block, axis=axis: block.sum(axis), (block,), gigabytes, "GB/s")
        yield Row(f"sum-{element}-all", torch.sum, (x,), gigabytes, "GB/s")
        for size in (16,) if tiny else (256, 1024, 4096, 8192):
            a, b = (torch.randn(size, size, device=device, dtype=torch.float32).to(dtype) for _ in range(2))
            yield Row(f"matmul-{element}-{size}", torch.matmul, (a, b), 2 * size**3 / 1e12, "TFLOP/s")


def convolutions(device: str, tiny: bool) -> Iterator[Row]:
    """Those of `benches/cuda_convolution.rs`: batch, channels, extent of the filters, padding, extent of the images."""
    cases = [(500, 1, 32, 3, 0, 28), (500, 32, 64, 3, 0, 26), (128, 64, 64, 3, 1, 56), (128, 256, 256, 3, 1, 14)]
    for batch, inputs, outputs, kernel, padding, image in [(2, 3, 4, 3, 1, 6)] if tiny else cases:
        size = image + 2 * padding + 1 - kernel
        amount = 2 * batch * outputs * size**2 * inputs * kernel**2 / 1e12
        shapes = [(batch, inputs, image, image), (outputs, inputs, kernel, kernel), (batch, outputs, size, size)]
        for element, dtype in TYPES.items():
            x, w, y = (torch.randn(shape, device=device, dtype=torch.float32).to(dtype) for shape in shapes)
            name = f"{element}-{batch}x{inputs}to{outputs}-{kernel}pad{padding}-{image}"
            forward = functools.partial(nn.functional.conv2d, padding=padding)
            by_input = functools.partial(nn.grad.conv2d_input, shapes[0], padding=padding)
            by_filters = functools.partial(nn.grad.conv2d_weight, weight_size=shapes[1], padding=padding)
            yield Row(f"conv2d-{name}", forward, (x, w), amount, "TFLOP/s")
            yield Row(f"conv2d_backward_input-{name}", by_input, (w, y), amount, "TFLOP/s")
            yield Row(f"conv2d_backward_filters-{name}", lambda x, y, by_filters=by_filters: by_filters(input=x, grad_output=y), (x, y), amount, "TFLOP/s")


def idx(path: pathlib.Path) -> torch.Tensor:
    """The bytes of an IDX file, packed or not."""
    packed = path.with_name(path.name + ".gz")
    data = gzip.decompress(packed.read_bytes()) if packed.exists() else path.read_bytes()
    ends = 4 + 4 * data[3]
    shape = [int.from_bytes(data[start : start + 4], "big") for start in range(4, ends, 4)]
    return torch.frombuffer(bytearray(data[ends:]), dtype=torch.uint8).reshape(shape)


def network(name: str) -> nn.Sequential:
    """The networks of `benches/networks/throughput.rs`."""
    if name == "small":
        return nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(4 * 13 * 13, 10))
    features = [nn.Conv2d(1, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2)]
    classifier = [nn.Flatten(), nn.Linear(64 * 12 * 12, 128), nn.ReLU(), nn.Linear(128, 10)]
    return nn.Sequential(*features, *classifier)


class Training:
    """A network in training, its data on the device. A step is forward, loss, hits, backward and update."""

    def __init__(self, name: str, device: str, data: pathlib.Path, tiny: bool) -> None:
        self.name = name
        _, kind, element, batch = name.split("-")
        self.batch = int(batch)
        count = self.batch * 2 if tiny else min(6000, 60 * self.batch)
        images = idx(data / "train-images-idx3-ubyte")[:count].to(torch.float64) / 255.0
        self.images = images.to(TYPES[element]).unsqueeze(1).to(device)
        self.labels = idx(data / "train-labels-idx1-ubyte")[:count].to(torch.int64).to(device)
        torch.manual_seed(42)
        self.model = network(kind).to(TYPES[element]).to(device)
        self.loss = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)

    def epoch(self, model: nn.Module) -> None:
        for images, labels in zip(self.images.split(self.batch), self.labels.split(self.batch), strict=True):
            self.optimizer.zero_grad()
            output = model(images)
            loss = self.loss(output, labels)
            (output.argmax(1) == labels).sum()
            loss.backward()
            self.optimizer.step()

    def measure(self, kind: str) -> float:
        # With CUDA graphs, where there are any: the mode that PyTorch has for small batches.
        model = torch.compile(self.model, mode="reduce-overhead") if kind == "compiled" else self.model
        return len(self.labels) / seconds_of(lambda: self.epoch(model))

    unit = "samples/s"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=200.0)
    parser.add_argument("--data", type=pathlib.Path, required=True, help="a folder of IDX files")
    parser.add_argument("--tiny", action="store_true")
    parser.add_argument("trainings", nargs="*")
    return parser.parse_args()


def main() -> None:
    settings = arguments()
    # By its defaults PyTorch computes products of f32 in f32, and convolutions in TF32: here both in f32, as dahl does.
    torch.backends.cudnn.allow_tf32 = False
    # A gradient is computed several times from one forward pass.
    torch._functorch.config.donated_buffer = False
    end = time.monotonic() + settings.seconds
    for kind in ("eager", "compiled"):
        for name, make in rows(settings):
            if time.monotonic() > end:
                print(json.dumps({"row": name, "kind": kind, "absent": "no time left"}), flush=True)
                continue
            try:
                row = make()
                said = {"value": row.measure(kind), "unit": row.unit}
            except Exception as error:  # a compiler that is not there, say: the rest goes on
                said = {"absent": " ".join(str(error).split())[:200]}
            print(json.dumps({"row": name, "kind": kind, **said}), flush=True)


def rows(settings: argparse.Namespace) -> Iterator[tuple[str, Callable]]:
    """Each row's name, and what makes it."""
    device = "cpu" if settings.tiny else "cuda"
    for step in cases.steps(settings.tiny):
        yield step.name, lambda step=step: Step(step, device)
    for name in settings.trainings:
        yield name, lambda name=name: Training(name, device, settings.data, settings.tiny)
    for row in itertools.chain(kernels(device, settings.tiny), convolutions(device, settings.tiny)):
        yield row.name, lambda row=row: row
    for case in cases.rows(settings.tiny):
        yield case.name, lambda case=case: OperationRow(case, device)


if __name__ == "__main__":
    main()
