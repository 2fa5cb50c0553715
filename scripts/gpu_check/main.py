"""The command behind scripts/gpu_check.sh, which says what it does."""

import argparse
import pathlib
import sys

import build
import machine
import rows
import table
import tests
from clock import Clock

ROOT = pathlib.Path(__file__).resolve().parents[2]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--build", type=pathlib.Path, metavar="FOLDER")
    which.add_argument("--run", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--fake", action="store_true")
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--table", type=pathlib.Path)
    return parser.parse_args()


def main() -> int:
    settings = arguments()
    clock = Clock(settings.seconds)
    folder = (settings.run or settings.build or ROOT / "target" / "gpu-check").resolve()
    if not settings.run:
        build.build(ROOT, folder)
        if settings.build:
            return 0
    here = machine.look(settings.fake, folder)
    results = table.Results(here)
    if here.device is None:
        results.absent("a CUDA device", here.why_no_device)
    else:
        # Half of the time at most for what has to be right, the rest for what has to be fast.
        tests.run(folder, here, clock.part(0.25), results)
        tests.sanitize(folder, here, clock.part(0.35), results)
        rows.run(ROOT, folder, here, clock, results)
    path = settings.table or folder / "gpu_check.md"
    path.write_text(results.page())
    print(results.page())
    print(f"written to {path}", file=sys.stderr)
    return 1 if here.device is None or results.has_failed else 0


if __name__ == "__main__":
    sys.exit(main())
