#!/usr/bin/env python3
"""Measures what docs/build-times.md shows: the README's two commands in a clean clone, and a user's crate of one operation.

    scripts/build_times.py [REVISION ...]

Each revision (HEAD, if none is named) is cloned into a temporary folder and built with nothing compiled before; downloads
are not counted. For a machine with nothing else to do. Figures are CPU seconds (user and system), wall seconds in brackets.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TRAIN = ["cargo", "run", "--release", "-p", "dahl-nn", "--example", "train_cnn"]

MANIFEST = """[package]
name = "one-op"
version = "0.1.0"
edition = "2024"

[dependencies]
dahl = {{ path = "{clone}" }}

[workspace]
"""

PROGRAM = """use dahl::prelude::*;

/// `out = alpha * x + y`.
#[codelet(R, R, W)]
pub fn axpy<T: Real>(x: T, y: T, alpha: T) -> T {
    alpha * x + y
}

fn main() -> dahl::Result<()> {
    let rt = Runtime::new()?;
    let arena = rt.arena();
    let x = arena.from_slice([3], &[1.0_f32, 2.0, 3.0])?;
    let out = axpy_init(&arena, &x, &x, 2.0)?;
    println!("{:?}", out.read()?.to_vec());
    Ok(())
}
"""


def timed(command, folder, target, check=True):
    """CPU seconds and wall seconds of a command."""
    environment = os.environ | {"CARGO_TARGET_DIR": str(target), "CARGO_TERM_COLOR": "never"}
    environment.pop("DAHL_CHECK_ONLY", None)
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    wall, after = time.monotonic() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    if check and done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout[-4000:]}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def megabytes(folder):
    size = subprocess.run(["du", "-sk", str(folder)], capture_output=True, text=True, check=True).stdout.split()[0]
    return int(size) / 1000


def shown(figure):
    return f"{figure[0]:,.0f} ({figure[1]:,.0f})"


def test_command(clone):
    """The second command of the README of that revision."""
    lines = (clone / "README.md").read_text().splitlines()
    return next(line for line in lines if line.startswith("cargo test")).split("#")[0].split()


def measure(revision, folder):
    clone = folder / "dahl"
    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", str(ROOT), str(clone)], check=True)
    subprocess.run(["git", "checkout", "--quiet", revision], cwd=clone, check=True)
    subprocess.run(["cargo", "fetch", "--quiet", "--locked"], cwd=clone, check=True)
    rows = {}
    rows["`train_cnn`, cold"] = shown(timed(TRAIN, clone, folder / "first"))
    rows["its `target`, MB"] = f"{megabytes(folder / 'first'):,.0f}"
    test = test_command(clone)
    print(f"{revision}: {' '.join(test)}", flush=True)
    rows["tests: build, cold"] = shown(timed([*test, "--no-run"], clone, folder / "second"))
    rows["tests: run"] = shown(timed([*test, "--no-fail-fast"], clone, folder / "second", check=False))
    rows["their `target`, MB"] = f"{megabytes(folder / 'second'):,.0f}"

    user = folder / "user"
    (user / "src").mkdir(parents=True)
    (user / "Cargo.toml").write_text(MANIFEST.format(clone=clone))
    for profile, options in [("debug", []), ("release", ["--release"])]:
        (user / "src/main.rs").write_text(PROGRAM)
        build = ["cargo", "build", *options]
        rows[f"user's crate: {profile}, cold"] = shown(timed(build, user, folder / profile))
        (user / "src/main.rs").write_text(PROGRAM.replace("alpha * x + y\n}", "alpha * x - y\n}"))
        rows[f"user's crate: {profile}, one line changed"] = "{0[0]:.1f} ({0[1]:.1f})".format(
            timed(build, user, folder / profile)
        )
    return rows


def main():
    revisions = sys.argv[1:] or ["HEAD"]
    columns = []
    for revision in revisions:
        name = subprocess.run(
            ["git", "rev-parse", "--short", revision], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout.strip()
        with tempfile.TemporaryDirectory() as folder:
            columns.append((name, measure(name, Path(folder))))
    print("| | " + " | ".join(name for name, _ in columns) + " |")
    print("|---|" + "---:|" * len(columns))
    for row in columns[0][1]:
        print(f"| {row} | " + " | ".join(rows[row] for _, rows in columns) + " |")


if __name__ == "__main__":
    main()
