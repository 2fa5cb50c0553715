#!/usr/bin/env python3
"""One row of the comparison: trains a network in PyTorch and prints the speed of each epoch as a line of JSON.

    python train.py --network small --type f32 --batch-size 10 --workers 1 --samples 6000 --seconds 1

The counterpart of `benches/networks/throughput.rs`: the same networks and images in the same order, forward, loss and
accuracy, backward and update of every batch. The first epoch warms up; then as many follow as fill the seconds, at least
one.

With --serve it reads such arguments line by line, and runs each row in a process of its own, forked where PyTorch is
loaded and has done nothing yet: loading it takes longer than most rows.
"""

import argparse
import gzip
import json
import os
import pathlib
import shlex
import sys
import time

import torch
from torch import nn

TYPES = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64}
EMBEDDED = pathlib.Path(__file__).resolve().parents[2] / "dahl-nn" / "data" / "fashion-mnist"


def idx(path: pathlib.Path) -> torch.Tensor:
    """The bytes of an IDX file, packed or not."""
    packed = path.with_name(path.name + ".gz")
    data = gzip.decompress(packed.read_bytes()) if packed.exists() else path.read_bytes()
    if data[:3] != b"\0\0\x08":
        sys.exit(f"{path} is no IDX file of bytes")
    ends = 4 + 4 * data[3]
    shape = [int.from_bytes(data[start : start + 4], "big") for start in range(4, ends, 4)]
    return torch.frombuffer(bytearray(data[ends:]), dtype=torch.uint8).reshape(shape)


def samples(folder: pathlib.Path, count: int, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """The first so many images, `[samples, 1, rows, cols]` from 0 to 1, and their labels."""
    images = idx(folder / "train-images-idx3-ubyte")[:count]
    labels = idx(folder / "train-labels-idx1-ubyte")[:count]
    return (images.to(torch.float64) / 255.0).to(dtype).unsqueeze(1), labels.to(torch.int64)


def network(name: str) -> nn.Sequential:
    """The network of that name, for images of 28 by 28."""
    if name == "small":
        return nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(4 * 13 * 13, 10))
    features = [nn.Conv2d(1, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2)]
    classifier = [nn.Flatten(), nn.Linear(64 * 12 * 12, 128), nn.ReLU(), nn.Linear(128, 10)]
    return nn.Sequential(*features, *classifier)


class Training:
    """A network, what it is trained with, and its data in memory."""

    def __init__(self, settings: argparse.Namespace) -> None:
        torch.manual_seed(42)
        dtype = TYPES[settings.type]
        self.model = network(settings.network).to(dtype)
        self.images, self.labels = samples(settings.data, settings.samples, dtype)
        if settings.memory_format == "channels_last":
            self.model = self.model.to(memory_format=torch.channels_last)
            self.images = self.images.contiguous(memory_format=torch.channels_last)
        self.loss = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)
        self.batch_size = settings.batch_size

    def batch(self, images: torch.Tensor, labels: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """One step; the batch's mean loss and how many of its samples were told right, before the update."""
        self.optimizer.zero_grad()
        output = self.model(images)
        loss = self.loss(output, labels)
        correct = (output.argmax(1) == labels).sum()
        loss.backward()
        self.optimizer.step()
        return loss.detach(), correct

    def epoch(self) -> dict:
        """Every batch once; the loss and accuracy of all samples, and how many there were in a second."""
        tallies = []
        began = time.perf_counter()
        for images, labels in zip(self.images.split(self.batch_size), self.labels.split(self.batch_size), strict=True):
            loss, correct = self.batch(images, labels)
            tallies.append((loss, correct, len(labels)))
        loss = sum(loss.item() * count for loss, _, count in tallies) / len(self.labels)
        accuracy = sum(correct.item() for _, correct, _ in tallies) / len(self.labels)
        elapsed = time.perf_counter() - began
        return {"loss": loss, "accuracy": accuracy, "samples_per_second": len(self.labels) / elapsed}


def peak_resident_bytes() -> int | None:
    """The most memory that the process had, where the system tells."""
    status = pathlib.Path("/proc/self/status")
    for line in status.read_text().splitlines() if status.exists() else []:
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) << 10
    return None


def arguments(line: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--network", choices=["small", "mnist"], default="small")
    parser.add_argument("--type", choices=TYPES, default="f32")
    parser.add_argument("--batch-size", type=int, default=10)
    parser.add_argument("--workers", type=int, default=1, help="threads of an operation")
    parser.add_argument("--samples", type=int, default=6000)
    parser.add_argument("--epochs", type=int, help="so many after all, in place of --seconds")
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--data", type=pathlib.Path, default=EMBEDDED, help="a folder of IDX files")
    parser.add_argument("--memory-format", choices=["contiguous", "channels_last"], default="contiguous")
    parser.add_argument("--serve", action="store_true", help="reads arguments from the standard input")
    return parser.parse_args(line)


def run(settings: argparse.Namespace) -> None:
    """Trains, and prints the line."""
    torch.set_num_threads(settings.workers)
    training = Training(settings)
    epochs = [training.epoch()]
    began = time.perf_counter()
    while len(epochs) < (settings.epochs or 2) or (
        settings.epochs is None and time.perf_counter() - began < settings.seconds
    ):
        epochs.append(training.epoch())
    result = {
        "samples_per_second": [epoch["samples_per_second"] for epoch in epochs],
        "losses": [epoch["loss"] for epoch in epochs],
        "loss": epochs[-1]["loss"],
        "accuracy": epochs[-1]["accuracy"],
        "peak_resident_bytes": peak_resident_bytes(),
        "version": torch.__version__,
    }
    print(json.dumps(result), flush=True)


def serve() -> None:
    """A process for each line; it ends with the first that fails."""
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            run(arguments(shlex.split(line)))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if status != 0:
            sys.exit(f"{line.strip()}: {os.waitstatus_to_exitcode(status)}")


def main() -> None:
    settings = arguments()
    if settings.serve:
        serve()
    else:
        run(settings)


if __name__ == "__main__":
    main()
