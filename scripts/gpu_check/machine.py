"""What there is on this machine."""

import ctypes
import dataclasses
import os
import pathlib
import shutil
import subprocess
import sys


@dataclasses.dataclass
class Machine:
    """A machine, and how programs on it are started."""

    device: str | None  # its name; nothing if there is none
    why_no_device: str
    is_fake: bool
    environment: dict[str, str]
    nvcc: str | None
    sanitizer: str | None
    torch: str | None  # its version
    torch_device: str | None
    processors: int


def look(fake: bool, folder: pathlib.Path) -> Machine:
    """Looks for the device and the tools."""
    environment = dict(os.environ)
    # Tests then leave the fake driver alone, even if it was built with them.
    environment["FAKE_CUDA"] = "1" if fake else "0"
    if fake:
        paths = [str(folder / "fake-cuda"), environment.get("LD_LIBRARY_PATH", "")]
        environment["LD_LIBRARY_PATH"] = ":".join(path for path in paths if path)
        environment["DAHL_NVRTC"] = str(folder / "fake-cuda")
    else:
        paths = [environment.get("LD_LIBRARY_PATH", ""), *map(str, libraries_of_python())]
        environment["LD_LIBRARY_PATH"] = ":".join(path for path in paths if path)
    device, why = device_of(folder / "fake-cuda" / "libcuda.so.1" if fake else "libcuda.so.1")
    torch, torch_device = torch_of()
    return Machine(
        device=device,
        why_no_device=why,
        is_fake=fake,
        environment=environment,
        nvcc=version_of(["nvcc", "--version"], "release"),
        sanitizer=None if fake else shutil.which("compute-sanitizer"),
        torch=torch,
        torch_device=torch_device,
        processors=os.cpu_count() or 1,
    )


def libraries_of_python() -> list[pathlib.Path]:
    """The folders of CUDA's libraries that PyTorch brought with it, where the loader does not look by itself: both then call the same."""
    found = {
        library.parent
        for path in map(pathlib.Path, sys.path)
        for name in ("libcublas.so.*", "libcudnn.so.*", "libnvrtc.so.*")
        for library in path.glob(f"nvidia/*/lib/{name}")
    }
    return sorted(found)


def device_of(library: pathlib.Path | str) -> tuple[str | None, str]:
    """The name of the first device that the driver has, or why there is none."""
    try:
        cuda = ctypes.CDLL(str(library))
    except OSError as error:
        return None, str(error)
    count = ctypes.c_int()
    if (code := cuda.cuInit(0)) or (code := cuda.cuDeviceGetCount(ctypes.byref(count))) or count.value == 0:
        return None, f"the driver says {code} and {count.value} devices"
    name = ctypes.create_string_buffer(128)
    cuda.cuDeviceGetName(name, len(name), 0)
    total, major, minor = ctypes.c_size_t(), ctypes.c_int(), ctypes.c_int()
    cuda.cuDeviceTotalMem_v2(ctypes.byref(total), 0)
    cuda.cuDeviceGetAttribute(ctypes.byref(major), 75, 0)
    cuda.cuDeviceGetAttribute(ctypes.byref(minor), 76, 0)
    driver = ctypes.c_int()
    cuda.cuDriverGetVersion(ctypes.byref(driver))
    version = f"{driver.value // 1000}.{driver.value % 1000 // 10}"
    more = f", {count.value} of them" if count.value > 1 else ""
    return f"{name.value.decode()} (compute capability {major.value}.{minor.value}, {total.value >> 20} MiB, CUDA {version}){more}", ""


def version_of(command: list[str], word: str) -> str | None:
    """The line of a program's output that has this word."""
    if not shutil.which(command[0]):
        return None
    output = subprocess.run(command, check=False, capture_output=True, text=True).stdout
    return next((line.strip() for line in output.splitlines() if word in line), "of an unknown version")


def torch_of() -> tuple[str | None, str | None]:
    """PyTorch's version, and the device that it has."""
    try:
        import torch
    except ImportError:
        return None, None
    has_device = torch.cuda.is_available()
    return torch.__version__, torch.cuda.get_device_name(0) if has_device else None
