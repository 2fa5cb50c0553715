#!/usr/bin/env python3
"""Measures what derived maps cost a crate of 200 maps: its `cargo check` and `cargo build`, with the gradients that the
macro derives and with `gradient = none`, in turn.

    scripts/derived_maps.py [ROUNDS]

It prints the medians, in CPU seconds (user and system), and the median of the rounds' ratios. Dependencies are compiled
before. docs/build-times.md has the figures.
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MAPS = 200

MANIFEST = """[package]
name = "maps"
version = "0.1.0"
edition = "2024"

[dependencies]
dahl = {{ path = "{root}" }}

[workspace]
"""

# Modes, parameters and bodies: one to three inputs, plain arguments, `let`, `if`, ten functions.
KINDS = [
    ("R, W", "x: T", "x * {c} + x"),
    ("R, W", "x: T", "T::ONE / (T::ONE + (-x * {c}).exp())"),
    ("R, W", "x: T", "if x > T::ZERO {{ x }} else {{ x * {c} }}"),
    ("R, W", "x: T", "(x * {c}).tanh()"),
    ("R, W", "x: T", "let y = x * {c}; y * (T::ONE + y.sqrt())"),
    ("R, R, W", "x: T, y: T", "x + y * {c}"),
    ("R, R, W", "x: T, y: T", "x * y * {c}"),
    ("R, R, W", "x: T, y: T", "x / (y + {c})"),
    ("R, R, W", "x: T, y: T", "(x * x + y * y + {c}).sqrt()"),
    ("R, R, W", "x: T, y: T", "let d = x - y; d * d * {c}"),
    ("R, W", "x: T, scale: T", "x * scale + {c}"),
    ("R, W", "x: T, low: T, high: T", "(x * {c}).max(low).min(high)"),
    ("R, R, R, W", "x: T, y: T, z: T", "x * y + z * {c}"),
    ("R, R, R, W", "x: T, y: T, z: T", "(x - y) * z.exp() * {c}"),
    ("R, W", "x: T", "T::from_f64(0.5) * x * (T::ONE + (x * {c}).tanh())"),
    ("R, R, W", "x: T, y: T", "if x.abs() < {c} {{ x * y }} else {{ y - x }}"),
    ("R, W", "x: T", "(x + {c}).ln()"),
    ("R, R, W", "x: T, y: T, alpha: T", "alpha * x + y * {c}"),
    ("R, W", "x: T", "x.sin() * (x * {c}).cos()"),
    ("R, W", "x: T", "x.powi(3) * {c}"),
]


def program(option):
    """The crate, with an option behind the modes of each map."""
    text = "//! Maps.\nuse dahl::prelude::*;\n"
    for number in range(MAPS):
        modes, parameters, body = KINDS[number % len(KINDS)]
        body = body.format(c=f"T::from_f64({1 + number / 16})")
        text += f"\n/// Map {number}.\n#[codelet({modes}{option})]\n"
        text += f"pub fn map_{number}<T: Real>({parameters}) -> T {{\n    {body}\n}}\n"
    return text


def cpu_seconds(command, folder):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = os.environ | {"CARGO_TARGET_DIR": str(folder / "target"), "CARGO_INCREMENTAL": "0"}
    done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout[-4000:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    options = {"none": ", gradient = none", "derived": ""}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "src").mkdir()
        (folder / "Cargo.toml").write_text(MANIFEST.format(root=ROOT))
        (folder / "Cargo.lock").write_text((ROOT / "Cargo.lock").read_text())
        for command in (["cargo", "check"], ["cargo", "build"]):
            seconds = {kind: [] for kind in options}
            for round in range(rounds + 1):
                for kind, option in options.items():
                    (folder / "src/lib.rs").write_text(program(option))
                    taken = cpu_seconds(command, folder)
                    if round > 0:  # the first one has compiled the dependencies
                        seconds[kind].append(taken)
            ratio = statistics.median(b / a for a, b in zip(*seconds.values()))
            medians = ", ".join(f"{kind} {statistics.median(of):.2f} s" for kind, of in seconds.items())
            print(f"{' '.join(command)}: {medians}, ratio {ratio:.3f}", flush=True)


if __name__ == "__main__":
    main()
