#!/usr/bin/env bash
# Makes the PTX anew that is kept beside the CUDA kernels, for builds without nvcc: after a change of a kernel or a header.
# With --check it says whether what is kept is what the pinned compiler makes, and changes nothing.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(. dahl-nn tests/user-crate)
cargo build --quiet -p dahl-build --bin dahl-ptx
ptx=${CARGO_TARGET_DIR:-$PWD/target}/debug/dahl-ptx
CUDA_HOME=$(scripts/cuda_toolkit.sh)
export CUDA_HOME
unset DAHL_NVCC

for package in "${packages[@]}"; do
    if [ "${1:-}" != --check ]; then
        (cd "$package" && "$ptx" kernels)
        continue
    fi
    copy=$(mktemp -d)
    trap 'rm -rf "$copy"' EXIT
    cp -r "$package/kernels" "$copy/kernels"
    (cd "$copy" && "$ptx" kernels)
    if ! diff -rq "$package/kernels/ptx" "$copy/kernels/ptx"; then
        echo "$package/kernels/ptx is not what the compiler makes of the kernels: run scripts/make_ptx.sh and commit" >&2
        exit 1
    fi
    rm -rf "$copy"
done
