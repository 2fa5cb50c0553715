"""Trains a network in PyTorch as `dahl study frameworks` trains it in dahl.

    python train.py SETTINGS.json

It prints `ready` when all is loaded, waits for a line, trains, prints what came of it as a line of JSON, and waits until its
standard input ends.
"""

import json
import pathlib
import sys
import time

import torch
from torch import nn


def network(name: str) -> nn.Sequential:
    """The network of that name, for images of 28 by 28; its parameters have the names of dahl's."""
    if name == "mlp":
        return nn.Sequential(nn.Flatten(), nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 10))
    first = [nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2)]
    second = [nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2)]
    return nn.Sequential(*first, *second, nn.Flatten(), nn.Linear(400, 84), nn.ReLU(), nn.Linear(84, 10))


@torch.no_grad()
def load(model: nn.Module, path: pathlib.Path) -> None:
    """Reads a safetensors file in f32 with exactly the parameters of the model."""
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    header.pop("__metadata__", None)
    own = model.state_dict()
    if own.keys() != header.keys():
        sys.exit(f"{path}: it has {sorted(header)}, expected {sorted(own)}")
    for name, entry in header.items():
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        values = torch.frombuffer(bytearray(content[begin:end]), dtype=torch.float32)
        if list(own[name].shape) != entry["shape"]:
            sys.exit(f"{path}: {name} is {entry['shape']}, expected {list(own[name].shape)}")
        own[name].copy_(values.view(entry["shape"]))


def peak_resident_bytes() -> int | None:
    """The most memory that the process had, where the system tells."""
    status = pathlib.Path("/proc/self/status")
    for line in status.read_text().splitlines() if status.exists() else []:
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) << 10
    return None


def main() -> None:
    settings = json.loads(pathlib.Path(sys.argv[1]).read_text())
    folder = pathlib.Path(settings["folder"])
    torch.set_num_threads(settings["workers"])
    model = network(settings["network"])
    load(model, folder / f"{settings['network']}.safetensors")
    pixels = bytearray((folder / "images.f32").read_bytes())
    images = torch.frombuffer(pixels, dtype=torch.float32).view(settings["samples"], 1, 28, 28)
    labels = torch.frombuffer(bytearray((folder / "labels.i64").read_bytes()), dtype=torch.int64)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=settings["rate"])
    print("ready", flush=True)
    sys.stdin.readline()
    epochs = []
    for _ in range(settings["epochs"]):
        began, losses = time.perf_counter(), []
        for batch, expected in zip(images.split(settings["batch"]), labels.split(settings["batch"]), strict=True):
            optimizer.zero_grad()
            loss = criterion(model(batch), expected)
            loss.backward()
            optimizer.step()
            losses.append((loss.detach(), len(expected)))
        mean = sum(loss.item() * count for loss, count in losses) / settings["samples"]
        epochs.append({"seconds": time.perf_counter() - began, "loss": mean})
    print(json.dumps({"epochs": epochs, "peak_bytes": peak_resident_bytes()}), flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
