#!/usr/bin/env python3
"""The counterpart of `benches/networks/steps`: steps of a network in PyTorch, or text that one writes.

    python steps.py --network gpt --type f32 --workers 1 --weights FILE [--compiled]

It begins with the weights that dahl wrote, and reads numbers of seconds from its standard input: for each it goes on for so
long, and prints the seconds and the loss of each step as a line of JSON. With `--peak` it prints the most memory that the
arrays of one step have at one time, and leaves.
"""

import argparse
import gzip
import json
import pathlib
import sys
import time

import torch
from models import CharLstm, Gpt, LeNet, ResNet20
from torch.nn import functional
from train import TYPES, peak_resident_bytes, samples

DATA = pathlib.Path(__file__).resolve().parents[2] / "dahl-nn" / "data"
BATCHES = 16
PROMPT, WRITTEN = 16, 64


def text() -> str:
    """The King James Bible, as dahl-nn has it."""
    return gzip.decompress((DATA / "king-james-bible" / "text.gz").read_bytes()).decode()


def characters() -> tuple[torch.Tensor, int]:
    """The text as numbers of characters, and how many there are."""
    whole = text()
    numbers = {character: number for number, character in enumerate(sorted(set(whole)))}
    return torch.tensor([numbers[character] for character in whole]), len(numbers)


def words() -> torch.Tensor:
    """The text as numbers of words, in the order in which they first appear."""
    numbers: dict[str, int] = {}
    return torch.tensor([numbers.setdefault(word, len(numbers)) for word in text().split()])


@torch.no_grad()
def load(model: torch.nn.Module, path: pathlib.Path) -> None:
    """Reads a safetensors file, all of whose tensors the model has."""
    types = {"BF16": torch.bfloat16, "F32": torch.float32, "F64": torch.float64}
    own = model.state_dict()
    missing = {name for name in own if not name.endswith("num_batches_tracked")}
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(length))
        for name in missing & header.keys():
            entry = header[name]
            begin, end = entry["data_offsets"]
            file.seek(8 + length + begin)
            # One tensor at a time: the peak of memory is not that of reading.
            found = torch.frombuffer(bytearray(file.read(end - begin)), dtype=types[entry["dtype"]])
            own[name].copy_(found.view(entry["shape"]))
    unread = (missing ^ header.keys()) - {"__metadata__"}
    if unread:
        sys.exit(f"{path}: not in both: {sorted(unread)}")


class Training:
    """A network with its data and optimizer; `step` gives the loss before the update."""

    def __init__(self, settings: argparse.Namespace) -> None:
        self.position, self.clips = 0, settings.network in ("gpt", "gpt2", "lstm")
        dtype = TYPES[settings.type]
        optimizer, options = torch.optim.AdamW, {"lr": 1e-3, "weight_decay": 0.1}
        if settings.network == "gpt":
            (self.tokens, count), self.extents = characters(), (12, 64)
            model = Gpt(count, 64, 128, 4, 4)
        elif settings.network == "gpt2":
            self.tokens, self.extents = words(), (4, 256)
            model, options["lr"] = Gpt(50257, 256, 768, 12, 12), 1e-4
        elif settings.network == "lstm":
            (self.tokens, count), self.extents = characters(), (32, 64)
            model, optimizer, options = CharLstm(count, 256, 2), torch.optim.Adam, {"lr": 5e-3}
        elif settings.network == "lenet":
            model, optimizer, options = LeNet(), torch.optim.Adam, {"lr": 1e-3}
            self.images(64, 0, dtype)
        else:
            model, optimizer = ResNet20(), torch.optim.SGD
            options = {"lr": 0.1, "momentum": 0.9, "weight_decay": 1e-4}
            self.images(128, 2, dtype)
        model = model.to(dtype)
        load(model, settings.weights)
        if settings.channels_last:
            model = model.to(memory_format=torch.channels_last)
            self.batches = [(x.contiguous(memory_format=torch.channels_last), y) for x, y in self.batches]
        self.model = model
        self.optimizer = optimizer(model.parameters(), fused=True, **options)
        self.forward = torch.compile(self.loss) if settings.compiled else self.loss

    def images(self, batch_size: int, border: int, dtype: torch.dtype) -> None:
        folder = DATA / "fashion-mnist"
        images, labels = samples(folder, BATCHES * batch_size, dtype)
        images = functional.pad(images, (border,) * 4)
        self.batches = list(zip(images.split(batch_size), labels.split(batch_size), strict=True))

    def batch(self) -> tuple[torch.Tensor, torch.Tensor]:
        """The next one. Windows of a text follow each other."""
        turn, self.position = self.position, self.position + 1
        if not self.clips:
            return self.batches[turn % BATCHES]
        count, length = self.extents
        turn %= (len(self.tokens) - 1) // length // count
        start, size = turn * count * length, count * length
        part = self.tokens[start : start + size + 1]
        return part[:-1].view(count, length), part[1:].view(count, length)

    def loss(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        scores = self.model(x)
        return functional.cross_entropy(scores.view(-1, scores.shape[-1]), y.reshape(-1))

    def step(self, keeps_gradients: bool = False) -> float:
        x, y = self.batch()
        self.optimizer.zero_grad(set_to_none=not keeps_gradients)
        loss = self.forward(x, y)
        loss.backward()
        if self.clips:
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        return loss.item()


def peak_bytes(training: Training) -> int:
    """The most memory that the arrays of a step have at one time, without parameters, gradients and the optimizer's state."""
    training.step(keeps_gradients=True)
    training.step(keeps_gradients=True)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as profile:
        training.step(keeps_gradients=True)
    used = least = most = 0
    events = [event for event in profile.profiler.kineto_results.events() if event.name() == "[memory]"]
    for event in sorted(events, key=lambda event: event.start_ns()):
        used += event.nbytes()
        least, most = min(least, used), max(most, used)
    # Memory that an earlier step had and this one frees would hide as much of the peak.
    if -least > most / 100:
        sys.exit(f"the step frees {-least} bytes of earlier steps")
    return most


class Writing:
    """GPT-2 small with random weights, and a cache of keys and values."""

    def __init__(self, settings: argparse.Namespace) -> None:
        self.model = Gpt(50257, 256, 768, 12, 12).to(TYPES[settings.type])
        load(self.model, settings.weights)
        self.temperature = settings.temperature
        self.prompt = words()[:PROMPT].view(1, -1)
        empty = torch.zeros(1, 12, 256, 64, dtype=TYPES[settings.type])
        self.caches = [(empty.clone(), empty.clone()) for _ in range(12)]
        self.next = torch.compile(self.model, dynamic=True) if settings.compiled else self.model

    @torch.inference_mode()
    def write(self) -> tuple[list[float], list[int]]:
        """The seconds of each token but the first, and the tokens."""
        new, seen, times, tokens = self.prompt, 0, [], []
        for _ in range(WRITTEN):
            forward = self.model if seen == 0 else self.next
            scores = forward(new, self.caches, seen)[0, -1].float()
            seen += new.shape[1]
            if self.temperature == 0:
                token = scores.argmax()
            else:
                token = torch.multinomial(torch.softmax(scores / self.temperature, 0), 1)[0]
            tokens.append(token.item())
            new = token.view(1, 1)
            times.append(time.perf_counter())
        return [after - before for before, after in zip(times, times[1:], strict=False)], tokens


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    networks = ["gpt", "gpt2", "lstm", "lenet", "resnet20", "writing"]
    parser.add_argument("--network", choices=networks, default="gpt")
    parser.add_argument("--type", choices=TYPES, default="f32")
    parser.add_argument("--workers", type=int, default=1, help="threads of an operation")
    parser.add_argument("--weights", type=pathlib.Path, required=True, help="a safetensors file that dahl wrote")
    parser.add_argument("--compiled", action="store_true", help="by torch.compile")
    parser.add_argument("--channels-last", action="store_true")
    parser.add_argument("--peak", action="store_true", help="prints the most memory of a step's arrays")
    parser.add_argument("--temperature", type=float, default=0.8)
    return parser.parse_args()


def main() -> None:
    settings = arguments()
    torch.set_num_threads(settings.workers)
    what = Writing(settings) if settings.network == "writing" else Training(settings)
    if settings.peak and isinstance(what, Writing):
        sys.exit("--peak is for training steps")
    if settings.peak:
        print(json.dumps({"peak_bytes": peak_bytes(what), "version": torch.__version__}))
        return
    for line in sys.stdin:
        seconds, outcomes = [], []
        began = time.perf_counter()
        if isinstance(what, Writing):
            seconds, outcomes = what.write()
        while isinstance(what, Training) and (len(seconds) < 2 or time.perf_counter() - began < float(line)):
            start = time.perf_counter()
            outcomes.append(what.step())
            seconds.append(time.perf_counter() - start)
        result = {"seconds": seconds, "outcomes": outcomes, "peak_resident_bytes": peak_resident_bytes()}
        print(json.dumps(result | {"version": torch.__version__}), flush=True)


if __name__ == "__main__":
    main()
