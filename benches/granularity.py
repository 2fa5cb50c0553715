#!/usr/bin/env python3
"""Runs the study of granularity, and writes how small tasks may be into docs/performance.md.

    benches/granularity.py             the study, docs/studies anew, and the page, some four minutes
    benches/granularity.py --quick     shows that it works, and writes target/comparison/performance.md

The study is `dahl study granularity`, with rayon beside it.
"""

import argparse
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "benches"))

from comparison import page

STUDY = ROOT / "docs" / "studies" / "data" / "granularity"

# The granularity at an efficiency of a half is to be below so many microseconds.
METG_US = 0.5


def judged(summary: str) -> str:
    """Which rows of the study's table meet the target."""
    targets = page.Targets()
    for line in summary.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) < 3 or not cells[1].isdigit():
            continue
        pattern, workers, metg = cells[:3]
        # `0.31 us`, `< 0.10 us`, or words where it was not found.
        is_met = metg.endswith(" us") and float(metg.removeprefix("< ").removesuffix(" us")) < METG_US
        targets.judge(f"METG at 50 %: below {METG_US:g} us", f"{pattern}, {workers} workers", metg, is_met)
    return targets.text()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="two short rounds: figures mean nothing")
    page.add_option(parser)
    settings = parser.parse_args()
    if settings.quick:
        target, folder = page.draft(settings.page), page.KEPT / "granularity"
        study = ["cargo", "run", "--release", "--quiet", "-p", "dahl-cli", "--", "study", "granularity"]
        subprocess.run([*study, "--quick", "--out", str(folder)], cwd=ROOT, check=True)
    else:
        target, folder = settings.page, STUDY
        subprocess.run(["scripts/studies.sh", "granularity"], cwd=ROOT, check=True)
    summary = (folder / "summary.md").read_text()
    text = f"{summary}\n{judged(summary)}"
    page.write(target, "granularity", text)
    print(f"\n{text}\n{target.relative_to(ROOT)} is written")


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(str(error))
