"""The tests that need a device, plain and under compute-sanitizer."""

import json
import os
import pathlib
import re
import signal
import subprocess
import time

from build import LIST
from clock import Clock
from machine import Machine
from table import Results

# What finds accesses out of bounds, of what nothing has written, races in shared memory, and wrong barriers.
TOOLS = ["memcheck", "initcheck", "racecheck", "synccheck"]
# Test programs that are run under it.
SANITIZED = ["cuda_devices"]
# Its exit status when it finds something.
FOUND = 86


def listed(folder: pathlib.Path) -> dict[str, list]:
    return json.loads((folder / LIST).read_text())


def outcome(output: str, status: int) -> str:
    """What a test program says of itself, in few words."""
    said = re.findall(r"test result: (?:\w+)\. (\d+) passed; (\d+) failed; (\d+) ignored", output)
    counts = [sum(int(one[i]) for one in said) for i in range(3)]
    if status == 0 and said:
        return f"{counts[0]} passed" + (f", {counts[2]} ignored" if counts[2] else "")
    failed = re.findall(r"^test (\S+) \.\.\. FAILED", output, re.MULTILINE)
    return f"FAILED: {', '.join(failed)}" if failed else f"FAILED with status {status}"


def run_one(command: list[str], folder: pathlib.Path, machine: Machine, seconds: float, given: str = "") -> tuple[str, int | None, float]:
    """Output, status and seconds of a program that reads what is given; no status if it did not end in time."""
    began = time.monotonic()
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    started = subprocess.Popen(command, cwd=folder, env=machine.environment, text=True, errors="replace", start_new_session=True, **pipes)
    try:
        output, _ = started.communicate(given, timeout=seconds)
    except subprocess.TimeoutExpired:
        # With what it started itself.
        os.killpg(started.pid, signal.SIGKILL)
        output, _ = started.communicate()
        return output, None, time.monotonic() - began
    return output, started.returncode, time.monotonic() - began


def run(folder: pathlib.Path, machine: Machine, clock: Clock, results: Results) -> None:
    """Every test program."""
    programs = listed(folder)
    for absent in programs["absent"]:
        results.absent(absent, "there is none in this version of dahl")
    for program in programs["test"]:
        name = f"{program['package']}: {program['name']}"
        if machine.is_fake and program["name"] == "nvrtc":
            results.absent(name, "it reads what NVRTC makes, which the fake of it does not")
            continue
        if clock.left() < 5:
            results.test(name, "not run: no time left", 0.0, failed=True)
            continue
        output, status, seconds = run_one([f"./{program['file']}"], folder, machine, clock.left())
        (folder / f"{program['file']}.log").write_text(output)
        said = "did not end in time" if status is None else outcome(output, status)
        results.test(name, said, seconds, failed=status != 0)


def sanitize(folder: pathlib.Path, machine: Machine, clock: Clock, results: Results) -> None:
    """The same under each tool of compute-sanitizer, as far as time goes."""
    if not machine.sanitizer:
        results.absent("compute-sanitizer", "it does not run on the fake driver" if machine.is_fake else "it is not installed here")
        return
    # Without the random programs, which take too long for it.
    programs = [program for program in listed(folder)["test"] if program["name"] in SANITIZED]
    left = [(tool, program) for tool in TOOLS for program in programs]
    while left:
        tool, program = left.pop(0)
        name = f"{tool}, {program['package']}: {program['name']}"
        share = clock.left() / (len(left) + 1)
        if share < 3:
            results.test(name, "not run: no time left", 0.0, failed=True)
            continue
        command = [machine.sanitizer, "--tool", tool, "--error-exitcode", str(FOUND), f"./{program['file']}", "--skip", "random_programs"]
        output, status, seconds = run_one(command, folder, machine, share)
        (folder / f"{tool}-{program['file']}.log").write_text(output)
        summary = re.findall(r"(?:ERROR|RACECHECK) SUMMARY: (.*)", output)
        # A program that was stopped has no summary, but what was found until then.
        found = len(re.findall(r"^========= (?:Invalid|Uninitialized|Error|Warning|Barrier|Race)", output, re.MULTILINE))
        if status is None:
            said = f"did not end in time; {found} errors until then"
        else:
            said = summary[-1] if summary else outcome(output, status)
        results.test(name, said, seconds, failed=status != 0 if status is not None else found > 0)
