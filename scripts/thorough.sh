#!/usr/bin/env bash
# Runs parts of the tests that are too long for each commit: those named, or all, and the whole workspace's before them.
#
#   numerics   every operation on inputs of every distribution, in every placement; every study and placement of tasks
#   kernels    every CUDA kernel, compiled by g++, against the references on the CPU, and some of them under valgrind
#   compiler   every CUDA kernel by NVRTC, and a user's crate by nvcc (installs CUDA's compiler into target/cuda)
#   vectors    the CPU's kernels in each narrower kind of vectors that this machine has; optional features of dahl-nn
set -euo pipefail
cd "$(dirname "$0")/.."
export DAHL_TESTING_TIER=thorough

numerics() {
    # All programs each time: another choice of them is another choice of features, and compiles dahl anew.
    for filter in numerics placement:: studies::; do
        cargo test --tests "$filter"
    done
}

kernels() {
    cargo test -p cuda-on-cpu -p fake-cuda
    if ! command -v valgrind >/dev/null; then
        echo "skipped: there is no valgrind"
        return
    fi
    # Valgrind does not emulate AVX-512.
    DAHL_SIMD_LEVELS=v3 DAHL_STALL_SECONDS=0 \
        CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER="valgrind --quiet --error-exitcode=1 --fair-sched=yes" \
        cargo test -p cuda-on-cpu -p fake-cuda --test cpu_kernels -- --skip all_numbers
}

compiler() {
    local cuda
    if ! cuda=$(scripts/cuda_toolkit.sh); then
        echo "skipped: the compiler of CUDA could not be installed"
        return
    fi
    DAHL_NVRTC=$cuda/lib cargo test -p dahl-cuda --all-features
    # In CI of the kernels' entry points one in sixteen, which ones by the day.
    if [ -z "${CI:-}" ]; then export DAHL_NVRTC_ALL=1; fi
    DAHL_NVRTC=$cuda/lib CUDA_HOME=$cuda cargo test -p dahl-build
    # Machine code for all kernels in place of PTX, for one kind of device: each takes minutes. Few of their functions
    # are called, so that optimizing them would take longer than it saves.
    CARGO_PROFILE_DEV_OPT_LEVEL=0 CUDA_HOME=$cuda DAHL_CUDA_ARCHITECTURES=90-real DAHL_TEST_IMAGES=fatbin \
        CARGO_TARGET_DIR=target/by-nvcc cargo test -p user-crate --test user_crate cuda::
}

vectors() {
    local flags level
    flags=$(cat /proc/cpuinfo)
    if [[ $flags == *avx512_bf16* ]]; then set -- v4 v3 v2; elif [[ $flags == *avx512f* ]]; then set -- v3 v2; else set -- v2; fi
    for level in "$@"; do
        DAHL_SIMD_LEVELS=all DAHL_SIMD=$level cargo test --lib -- cpu::
    done
    DAHL_SIMD_LEVELS=all cargo test -p dahl-element
    cargo test -p dahl-nn --all-features --test dahl_nn -- dataset::image_folder tokenizer
}

if [ $# = 0 ]; then
    cargo test --workspace
    set -- numerics kernels compiler vectors
fi
for part in "$@"; do
    printf '\n-- thorough: %s (%ss)\n' "$part" "$SECONDS"
    "$part"
done
