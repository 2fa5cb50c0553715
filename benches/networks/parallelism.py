#!/usr/bin/env python3
"""How many workers the graph of a training step could use, by the bench `steps` on a simulated machine.

    cargo build --release -p dahl-benches --bench steps
    benches/networks/parallelism.py target/release/deps/steps-* [NETWORK..]

A worker has 100 GFLOP/s and 20 GB/s, and a task costs 0.3 us. A simulated task runs on one worker, so the figures are those of the
graph alone: a real kernel is divided among idle workers besides. Where no task waited for a worker, the span is the critical path.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benches"))

from comparison import page, program

MACHINE = "[cpu.speed]\ngflops = 100\ngbytes_per_s = 20\noverhead_us = 0.3\n"
WORKERS = 64


def last_step(trace: pathlib.Path) -> dict[int, dict]:
    """The tasks of the second of two steps: those that begin after the updates of the first one."""
    tasks = {}
    for line in trace.read_text().splitlines():
        if '"cat":"task"' in line:
            event = json.loads(line.rstrip(","))
            tasks[event["args"]["task"]] = event
    updates = sorted(end(task) for task in tasks.values() if is_update(task["args"]["codelet"]))
    border = updates[len(updates) // 2 - 1]
    return {number: task for number, task in tasks.items() if task["ts"] >= border}


def is_update(codelet: str) -> bool:
    return "::optimizer::" in codelet and "::clip::" not in codelet


def end(task: dict) -> float:
    return task["ts"] + task["dur"]


def waited(tasks: dict[int, dict]) -> float:
    """How long all tasks together were ready before they began, but for the program's own, which takes as long as its steps."""
    return sum(task["ts"] - task["args"]["ready_us"] for task in tasks.values() if task["dur"] > 0)


def width(tasks: dict[int, dict]) -> int:
    """The most tasks at one time."""
    running = [task for task in tasks.values() if task["dur"] > 0]
    events = [(task["ts"], 1) for task in running] + [(end(task), -1) for task in running]
    now = most = 0
    for _, change in sorted(events):
        now += change
        most = max(most, now)
    return most


def row(steps: str, network: str, folder: pathlib.Path) -> list[str]:
    """What is found about one network."""
    machine, trace = folder / "machine.toml", folder / "trace.json"
    machine.write_text(MACHINE)
    settings = program.environment() | {"DAHL_MACHINE": str(machine), "DAHL_TRACE": str(trace)}
    command = [steps, "--network", network, "--workers", str(WORKERS)]
    subprocess.run(command, input="0\n", env=settings, text=True, check=True, stdout=subprocess.DEVNULL, cwd=ROOT)
    tasks = last_step(trace)
    work = sum(task["dur"] for task in tasks.values())
    span = max(map(end, tasks.values())) - min(task["ts"] for task in tasks.values())
    figures = [f"{work / 1e3:.1f}", f"{span / 1e3:.1f}", f"{waited(tasks) / 1e3:.1f}", f"{work / span:.2f}"]
    return [network, str(len(tasks)), *figures, str(width(tasks))]


def main() -> None:
    networks = sys.argv[2:] or ["gpt", "gpt2", "resnet20", "lenet", "lstm"]
    with tempfile.TemporaryDirectory() as folder:
        rows = [row(os.path.abspath(sys.argv[1]), network, pathlib.Path(folder)) for network in networks]
    columns = ["network", ">tasks", ">work, ms", f">span of {WORKERS}, ms", ">waited, ms", ">work / span", ">width"]
    print(page.table(columns, rows))


if __name__ == "__main__":
    main()
