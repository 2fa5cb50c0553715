#!/usr/bin/env bash
# Makes the PTX that a release has beside the CUDA kernels, for machines that have a driver and no compiler of CUDA. Git ignores it.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo build --quiet -p dahl-build --bin dahl-ptx
ptx=${CARGO_TARGET_DIR:-$PWD/target}/debug/dahl-ptx
CUDA_HOME=$(scripts/cuda_toolkit.sh)
export CUDA_HOME
unset DAHL_NVCC

for package in . dahl-nn; do
    (cd "$package" && "$ptx" kernels)
done
