#!/usr/bin/env python3
"""The memory that a training step of each network needs: planned by dahl, reached, and in PyTorch, as a table.

    benches/pytorch/setup.sh
    target/pytorch/bin/python benches/pytorch/peaks.py [--types f32] [--networks gpt lstm]

Parameters, gradients and the state of the optimizer are not counted: both programs keep them from step to step.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benches"))

from comparison import program

STEPS = ROOT / "benches" / "pytorch" / "steps.py"
NETWORKS = ["gpt", "lstm", "lenet", "resnet20", "gpt2"]


def lines(command: list[str]) -> list[dict]:
    """What a program prints."""
    done = subprocess.run(command, check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return [json.loads(line) for line in done.stdout.splitlines()]


def mib(size: int) -> str:
    return f"{size / 2**20:,.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--types", nargs="+", default=["f32"])
    parser.add_argument("--networks", nargs="+", choices=NETWORKS, default=NETWORKS)
    settings = parser.parse_args()
    steps = program.bench("dahl-benches", "steps")
    print("| step | arena | any order | reached | lower bound | tight | reached | lower bound | PyTorch |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        weights = pathlib.Path(folder) / "weights.safetensors"
        for network in settings.networks:
            for element in settings.types:
                row = ["--network", network, "--type", element]
                tight, any_order = lines([steps, *row, "--save", str(weights), "--plans"])
                other = lines([sys.executable, str(STEPS), *row, "--weights", str(weights), "--peak"])[0]
                sizes = [any_order["arrays_bytes"]]
                for plan in (any_order, tight):
                    sizes += [plan["planned_bytes"], plan["reached_bytes"], plan["lower_bound_bytes"]]
                sizes += [other["peak_bytes"]]
                print("|", " | ".join([f"{network} {element}", *map(mib, sizes)]), "|", flush=True)


if __name__ == "__main__":
    main()
