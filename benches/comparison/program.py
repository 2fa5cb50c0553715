"""Programs that print one line of JSON: how they are built and run."""

import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


class ProgramError(Exception):
    """A program that did not end well, or printed no JSON."""


def bench(package: str, name: str) -> str:
    """Builds a bench of the workspace; the path of its program."""
    command = ["cargo", "bench", "--no-run", "--quiet", "--message-format=json", "-p", package, "--bench", name]
    print(f"building {name} of {package}", file=sys.stderr)
    built = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    for line in built.stdout.splitlines() if built.returncode == 0 else []:
        message = json.loads(line)
        if message.get("executable") and message["target"]["name"] == name:
            return message["executable"]
    raise ProgramError(f"`{' '.join(command)}` has built no program")


def lines(command: list[str], **environment: str) -> list[dict]:
    """Runs a program; the lines of JSON that it prints. Settings of dahl in the environment do not reach it."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("DAHL_", "STARPU_"))}
    ended = subprocess.run(command, cwd=ROOT, env=env | environment, capture_output=True, text=True, check=False)
    found = [json.loads(line) for line in ended.stdout.splitlines() if line.startswith("{")]
    if ended.returncode != 0 or not found:
        told = ended.stderr.strip().splitlines()[-12:]
        raise ProgramError("\n".join([f"`{' '.join(command)}` ended with {ended.returncode}", *told]))
    return found
