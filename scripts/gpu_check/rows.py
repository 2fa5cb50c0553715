"""The benchmarks: each row in dahl and in PyTorch, eager and compiled, one right after the other."""

import json
import pathlib
import sys

from clock import Clock
from machine import Machine
from table import Results
from tests import listed, run_one

TYPES = ["f32", "bf16", "f16", "f64"]
BATCHES = [1, 10, 100, 500]


def trainings(is_fake: bool) -> list[str]:
    """The networks, `train-NETWORK-TYPE-BATCH`, the most telling first."""
    if is_fake:
        return ["train-small-f32-100"]
    return [f"train-{network}-{element}-{batch}" for element in TYPES for network in ("mnist", "small") for batch in BATCHES]


def lines(output: str) -> list[dict]:
    """The lines of JSON that a program printed."""
    found = []
    for line in output.splitlines():
        if line.startswith("{"):
            found.append(json.loads(line))
    return found


def run(root: pathlib.Path, folder: pathlib.Path, machine: Machine, clock: Clock, results: Results) -> None:
    """PyTorch's rows first: they say what there is to be reached."""
    pytorch(root, folder, machine, clock.part(0.4), results)
    programs = {(program["package"], program["name"]): program["file"] for program in listed(folder)["bench"]}
    if file := programs.get(("dahl-benches", "throughput")):
        train(file, folder, machine, clock.part(0.55), results)
    for name in ("cuda_gemm", "cuda_convolution", "cuda_bandwidth"):
        if file := programs.get(("dahl-benches", name)):
            operations(name, file, folder, machine, clock, results)


def operations(name: str, file: str, folder: pathlib.Path, machine: Machine, clock: Clock, results: Results) -> None:
    """The rows of a benchmark of single operations: in dahl, and by what is called directly beside it."""
    command = [f"./{file}", *(["--tiny"] if machine.is_fake else [])]
    output, status, _ = run_one(command, folder, machine, clock.left() * 0.5)
    for line in lines(output):
        results.row(line["row"], line["kind"], line["value"], line["unit"])
    if status != 0:
        why = "no time left" if status is None else f"it ended with {status}: {output.strip()[-200:]}"
        results.absent(f"some rows of the benchmark `{name}` of dahl", why)


def train(file: str, folder: pathlib.Path, machine: Machine, clock: Clock, results: Results) -> None:
    """dahl's trainings: on the device alone, on the CPU alone, and on both together."""
    everyone = ["--workers", str(max(1, machine.processors - 1))]
    kinds = {
        # On a device alone a batch is not cut in parts.
        "dahl": ("1", ["--on-devices", "--micro-batch-size", "BATCH"]),
        "dahl, CPU alone": ("0", everyone),
        "dahl, CPU and device": ("1", [*everyone, "--scheduler", "dmda"]),
    }
    left = [(row, kind) for row in trainings(machine.is_fake) for kind in kinds]
    while left and clock.left() > 5:
        row, kind = left.pop(0)
        _, network, element, batch = row.split("-")
        devices, options = kinds[kind]
        own = dict(machine.environment, DAHL_NCUDA=devices)
        # The fake driver takes a thousand times as long.
        samples = 2 * int(batch) if machine.is_fake else min(6000, 60 * int(batch))
        command = [f"./{file}", "--network", network, "--type", element, "--batch-size", batch, "--samples", str(samples)]
        command += [batch if option == "BATCH" else option for option in options]
        started = Machine(**{**vars(machine), "environment": own})
        output, status, _ = run_one(command, folder, started, min(30.0, clock.left()))
        said = lines(output)
        if status == 0 and said:
            speeds = sorted(said[-1]["samples_per_second"][1:])
            results.row(row, kind, speeds[len(speeds) // 2], "samples/s")
        else:
            why = "it did not end in time" if status is None else f"it ended with {status}: {output.strip()[-200:]}"
            results.absent(f"{row}, {kind}", why)
    if left:
        results.absent(f"{len(left)} trainings of dahl", "no time left")


def pytorch(root: pathlib.Path, folder: pathlib.Path, machine: Machine, clock: Clock, results: Results) -> None:
    """One process for all rows: PyTorch takes seconds to start."""
    if not machine.torch:
        results.absent("PyTorch", "Python has none here: PYTHON names one that does")
        return
    if not machine.torch_device and not machine.is_fake:
        results.absent("PyTorch on the device", f"PyTorch {machine.torch} has none")
        return
    command = [sys.executable, str(root / "scripts" / "gpu_check" / "pytorch.py"), "--seconds", f"{clock.left() * 0.95:.0f}"]
    command += ["--data", str(root / "dahl-nn" / "data" / "fashion-mnist")]
    if machine.is_fake:
        command.append("--tiny")
    command += trainings(machine.is_fake)
    output, status, _ = run_one(command, folder, machine, clock.left())
    (folder / "pytorch.log").write_text(output)
    for line in lines(output):
        results.row(line["row"], line["kind"], line["value"], line["unit"])
    if status != 0:
        why = "no time left" if status is None else f"it ended with {status}: {output.strip()[-200:]}"
        results.absent("some rows of PyTorch", why)
