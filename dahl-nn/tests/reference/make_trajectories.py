#!/usr/bin/env python3
"""Makes the files beside it: initial weights, and PyTorch's losses from there, epoch by epoch.

    pip install torch numpy safetensors
    python3 dahl-nn/tests/reference/make_trajectories.py

Two networks on the embedded part of Fashion-MNIST, in its order, without shuffling, on one thread:

small    conv 1->4 3x3, relu, max-pool 2, dense 676->10; all 6,000 samples, batch 10, SGD lr 0.001, 5 epochs.
strided  conv 1->6 3x3 padding 1, relu, max-pool 2, conv 6->8 3x3 stride 2 padding 1, relu, dense 392->10;
         the first 2,000 samples, batch 64 (the last one has 16), SGD lr 0.01, momentum 0.9, weight decay 5e-4,
         3 epochs.

`{network}.safetensors` has the initial weights in f64; the f32 run starts from the same, rounded. `trajectories.json`
has for each network and type and epoch the mean loss (sum of batch means times batch sizes, in f64, over the number of
samples) and how many predictions were right, both from the forward passes of the training.
"""

import gzip
import json
import pathlib

import numpy
import torch
from safetensors.torch import save_file
from torch import nn

HERE = pathlib.Path(__file__).parent
DATA = HERE.parent.parent / "data" / "fashion-mnist"

torch.set_num_threads(1)
torch.use_deterministic_algorithms(True)


def data(dtype, samples):
    with gzip.open(DATA / "train-images-idx3-ubyte.gz") as file:
        pixels = numpy.frombuffer(file.read()[16:], numpy.uint8).reshape(-1, 1, 28, 28)[:samples]
    with gzip.open(DATA / "train-labels-idx1-ubyte.gz") as file:
        labels = numpy.frombuffer(file.read()[8:], numpy.uint8)[:samples]
    return torch.tensor(pixels / 255.0).to(dtype), torch.tensor(labels.astype(numpy.int64))


def small():
    return nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(676, 10))


def strided():
    return nn.Sequential(
        nn.Conv2d(1, 6, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(6, 8, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(392, 10),
    )


def train(network, dtype, start, samples, batch, epochs, options):
    images, labels = data(dtype, samples)
    model = network().to(dtype)
    model.load_state_dict({name: value.to(dtype) for name, value in start.items()})
    optimizer = torch.optim.SGD(model.parameters(), **options)
    result = []
    for _ in range(epochs):
        loss_sum, correct = 0.0, 0
        for begin in range(0, samples, batch):
            x, y = images[begin : begin + batch], labels[begin : begin + batch]
            optimizer.zero_grad()
            output = model(x)
            loss = nn.functional.cross_entropy(output, y)
            loss.backward()
            optimizer.step()
            loss_sum += loss.item() * len(y)
            correct += (output.argmax(1) == y).sum().item()
        result.append({"loss": loss_sum / samples, "correct": correct})
    return result


trajectories = {}
for name, network, samples, batch, epochs, options in [
    ("small", small, 6000, 10, 5, {"lr": 0.001}),
    ("strided", strided, 2000, 64, 3, {"lr": 0.01, "momentum": 0.9, "weight_decay": 5e-4}),
]:
    torch.manual_seed(42)
    start = network().to(torch.float64).state_dict()
    save_file(start, HERE / f"{name}.safetensors")
    for type_name, dtype in [("f64", torch.float64), ("f32", torch.float32)]:
        trajectories[f"{name}_{type_name}"] = train(network, dtype, start, samples, batch, epochs, options)
        print(name, type_name, trajectories[f"{name}_{type_name}"])
(HERE / "trajectories.json").write_text(json.dumps(trajectories, indent=1) + "\n")
