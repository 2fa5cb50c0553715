"""Where and when something was measured."""

import datetime
import os
import pathlib
import platform
import subprocess

from .program import ROOT


def commit() -> str:
    """The commit of the checkout, and whether files differ from it: others than the pages that comparisons write."""

    def git(*arguments: str) -> str:
        command = ["git", *arguments]
        return subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False).stdout.strip()

    changed = " with changes" if git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!docs") else ""
    return (git("rev-parse", "--short", "HEAD") or "an unknown commit") + changed


def processor() -> str:
    """The processor's name, its cores, and the instructions that matter here."""
    name, flags = platform.machine(), set()
    info = pathlib.Path("/proc/cpuinfo")
    for line in info.read_text().splitlines() if info.exists() else []:
        key, _, value = line.partition(":")
        if key.strip() == "model name":
            name = value.strip()
        if key.strip() == "flags":
            flags = set(value.split())
    sets = [flag for flag in ("avx2", "avx512f", "avx512_bf16", "amx_bf16") if flag in flags]
    return ", ".join([f"{name}, {os.cpu_count()} cores", *sets])


class Occasion:
    """The date, the commit, the machine, and how busy it was at begin and end."""

    def __init__(self) -> None:
        self.date = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")
        self.load = os.getloadavg()[0]
        self.commit = commit()

    def text(self, rounds: int, *versions: str) -> str:
        """The line under a table."""
        load = f"load average {self.load:.2f} at the start, {os.getloadavg()[0]:.2f} at the end"
        of = ", ".join([f"dahl {self.commit}", *versions])
        plural = "" if rounds == 1 else "s"
        return f"{self.date}, {rounds} round{plural} in turn, medians (quartiles). {of}. {processor()}; {load}."
