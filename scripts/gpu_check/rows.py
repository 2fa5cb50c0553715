"""The benchmarks: each row in dahl and in PyTorch, eager and compiled, one right after the other."""

import dataclasses
import json
import pathlib
import statistics
import sys

import cases
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
    programs = {program["name"]: program["file"] for program in listed(folder)["bench"] if program["package"] == "dahl-benches"}
    if file := programs.get("steps"):
        steps(file, folder, machine, clock.part(0.2), results)
    if file := programs.get("operations"):
        operations(file, folder, machine, clock.part(0.35), results)
    if file := programs.get("throughput"):
        train(file, folder, machine, clock.part(0.55), results)
    for name in ("cuda_gemm", "cuda_convolution", "cuda_bandwidth"):
        if file := programs.get(name):
            benchmark(name, file, folder, machine, clock, results)
    results.absent_rows("dahl", "no figure of dahl: its benchmark did not come so far")


def on_device(machine: Machine) -> Machine:
    """The same machine, of which dahl uses one device."""
    return dataclasses.replace(machine, environment=machine.environment | {"DAHL_NCUDA": "1"})


def steps(file: str, folder: pathlib.Path, machine: Machine, clock: Clock, results: Results) -> None:
    """Steps of training a GPT in dahl, as a CUDA graph."""
    left = cases.steps(machine.is_fake)
    while left:
        step, seconds = left.pop(0), clock.left() / (len(left) + 1)
        if seconds < 3:
            results.absent(f"{step.name}, dahl", "no time left")
            continue
        # The first steps record and instantiate the program. The fake driver is asked for no more than these.
        given = "0\n0\n" if machine.is_fake else f"1\n{min(5.0, seconds / 4):.1f}\n"
        command = [f"./{file}", "--network", step.network, "--type", step.element, "--workers", "1", "--on-devices"]
        output, status, _ = run_one(command, folder, on_device(machine), seconds, given)
        said = lines(output)
        if status == 0 and len(said) == 2:
            results.row(step.name, "dahl", step.tokens / statistics.median(said[-1]["seconds"]), "tokens/s")
        else:
            results.absent(f"{step.name}, dahl", why(output, status))


def operations(file: str, folder: pathlib.Path, machine: Machine, clock: Clock, results: Results) -> None:
    """Single operations in dahl: one process answers for all rows."""
    rows = cases.rows(machine.is_fake)
    given = "".join(row.request() + "\n" for row in rows)
    output, status, _ = run_one([f"./{file}", "--on-device"], folder, on_device(machine), clock.left(), given)
    answers = lines(output)
    for row, answer in zip(rows, answers, strict=False):
        if "error" in answer:
            results.absent(f"{row.name}, dahl", answer["error"])
            continue
        results.row(row.name, "dahl", row.amount / answer["seconds"], row.unit)
        if answer["tasks_on_cpus"]:
            results.absent(f"{row.name}, dahl", f"{answer['tasks_on_cpus']} of {answer['tasks']} tasks were not on the device")
    for row in rows[len(answers) :]:
        results.absent(f"{row.name}, dahl", why(output, status))


def why(output: str, status: int | None) -> str:
    """Why a program has no figure."""
    return "it did not end in time" if status is None else f"it ended with {status}: {output.strip()[-200:]}"


def benchmark(name: str, file: str, folder: pathlib.Path, machine: Machine, clock: Clock, results: Results) -> None:
    """The rows of a benchmark that chooses them itself: in dahl, and by what is called directly beside it."""
    command = [f"./{file}", *(["--tiny"] if machine.is_fake else [])]
    output, status, _ = run_one(command, folder, machine, clock.left() * 0.5)
    for line in lines(output):
        results.row(line["row"], line["kind"], line["value"], line["unit"])
    if status != 0:
        results.absent(f"the last rows of the benchmark `{name}` of dahl", why(output, status))


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
        # The fake driver takes a thousand times as long.
        samples = 2 * int(batch) if machine.is_fake else min(6000, 60 * int(batch))
        command = [f"./{file}", "--network", network, "--type", element, "--batch-size", batch, "--samples", str(samples)]
        command += [batch if option == "BATCH" else option for option in options]
        started = dataclasses.replace(machine, environment=machine.environment | {"DAHL_NCUDA": devices})
        output, status, _ = run_one(command, folder, started, min(30.0, clock.left()))
        said = lines(output)
        if status == 0 and said:
            speeds = sorted(said[-1]["samples_per_second"][1:])
            results.row(row, kind, speeds[len(speeds) // 2], "samples/s")
        else:
            results.absent(f"{row}, {kind}", why(output, status))
    for row, kind in left:
        results.absent(f"{row}, {kind}", "no time left")


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
        if "absent" in line:
            results.absent(f"{line['row']}, {line['kind']}", line["absent"])
        else:
            results.row(line["row"], line["kind"], line["value"], line["unit"])
    if status != 0:
        results.absent("the rows of PyTorch after these", why(output, status))
