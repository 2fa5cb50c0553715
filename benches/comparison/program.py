"""Programs that print one line of JSON: how they are built and run."""

import json
import os
import pathlib
import shlex
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


def environment() -> dict[str, str]:
    """Settings of dahl and StarPU in the environment reach no program."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("DAHL_", "STARPU_"))}


def lines(command: list[str], **settings: str) -> list[dict]:
    """Runs a program; the lines of JSON that it prints."""
    ended = subprocess.run(command, cwd=ROOT, env=environment() | settings, capture_output=True, text=True, check=False)
    found = [json.loads(line) for line in ended.stdout.splitlines() if line.startswith("{")]
    if ended.returncode != 0 or not found:
        told = ended.stderr.strip().splitlines()[-12:]
        raise ProgramError("\n".join([f"`{' '.join(command)}` ended with {ended.returncode}", *told]))
    return found


class Server:
    """A program that answers each line of arguments by a line of JSON: it starts once."""

    def __init__(self, command: list[str]) -> None:
        self.command = command
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, cwd=ROOT, env=environment(), stdin=pipe, stdout=pipe, text=True)

    def answer(self, arguments: list[str]) -> dict:
        try:
            self.process.stdin.write(shlex.join(arguments) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # the line that it does not answer tells
        line = self.process.stdout.readline()
        if not line.startswith("{"):
            raise ProgramError(f"`{shlex.join(self.command)}` has no answer to `{shlex.join(arguments)}`")
        answer = json.loads(line)
        if "error" in answer:
            raise ProgramError(f"`{shlex.join(self.command)}`: {shlex.join(arguments)}: {answer['error']}")
        return answer
