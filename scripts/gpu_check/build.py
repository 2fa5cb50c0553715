"""Building what runs on the machine with the device: release binaries, copied into one folder with a list of them."""

import json
import pathlib
import shutil
import subprocess
import sys

# The tests that use a device where there is one: package and test program.
TESTS = [
    ("cuda-devices", "cuda_devices"),
    ("dahl-cuda", "nvrtc"),
]
# The benchmarks, of which `rows.py` knows how they are called.
BENCHES = [("dahl-benches", name) for name in ("cuda_bandwidth", "cuda_gemm", "cuda_convolution", "throughput", "operations", "steps")]
LIST = "list.json"


def targets(root: pathlib.Path) -> dict[tuple[str, str, str], list[str]]:
    """Every test and benchmark of the workspace, with the features that it needs."""
    command = ["cargo", "metadata", "--no-deps", "--format-version=1"]
    packages = json.loads(subprocess.run(command, cwd=root, check=True, capture_output=True).stdout)["packages"]
    return {
        (package["name"], kind, target["name"]): target.get("required-features", [])
        for package in packages
        for target in package["targets"]
        for kind in target["kind"]
    }


def executable(root: pathlib.Path, package: str, kind: str, name: str, features: list[str]) -> pathlib.Path:
    """Builds a test or benchmark in release."""
    command = ["cargo", "test" if kind == "test" else "bench", "--no-run", "--message-format=json", "-p", package, f"--{kind}", name]
    if kind == "test":
        command.append("--release")
    if features:
        command += ["--features", ",".join(features)]
    print(" ".join(command), file=sys.stderr)
    lines = subprocess.run(command, cwd=root, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    messages = [json.loads(line) for line in lines if line.startswith("{")]
    made = [message for message in messages if message.get("executable") and message["target"]["name"] == name]
    return pathlib.Path(made[-1]["executable"])


def build(root: pathlib.Path, folder: pathlib.Path) -> None:
    """Builds all that there is, and writes down what there is not."""
    folder.mkdir(parents=True, exist_ok=True)
    known = targets(root)
    listed: dict[str, list] = {"test": [], "bench": [], "absent": []}
    for kind, programs in (("test", TESTS), ("bench", BENCHES)):
        for package, name in programs:
            if (package, kind, name) not in known:
                listed["absent"].append(f"the {kind} `{name}` of {package}")
                continue
            built = executable(root, package, kind, name, known[package, kind, name])
            to = folder / f"{kind}-{package}-{name}"
            shutil.copy2(built, to)
            subprocess.run(["strip", to], check=False)
            listed[kind].append({"package": package, "name": name, "file": to.name})
            copy_fake_driver(built, folder)
    (folder / LIST).write_text(json.dumps(listed, indent=1))


def copy_fake_driver(program: pathlib.Path, folder: pathlib.Path) -> None:
    """The libraries of the fake driver, if they were built with this test."""
    profile = program.parents[1]
    found = sorted(profile.glob("build/fake-cuda-*/out/lib/libcuda.so.1"), key=lambda path: path.stat().st_mtime)
    to = folder / "fake-cuda"
    if found:
        shutil.rmtree(to, ignore_errors=True)
        shutil.copytree(found[-1].parent, to, symlinks=True)
        for library in to.iterdir():
            subprocess.run(["strip", "-g", library], check=False)
