#!/usr/bin/env bash
# Checks dahl on a CUDA device, and compares it with PyTorch, within ten minutes: the tests that need a device, the same under
# compute-sanitizer, and the benchmarks against PyTorch, eager and compiled: steps of a GPT, trainings, single operations. Writes one
# table, and lists in it what was not there, and each row for which there was no time.
#
#   scripts/gpu_check.sh                      builds, then runs: on a machine with cargo and a device
#   scripts/gpu_check.sh --build FOLDER       builds for another machine; carry FOLDER, scripts/, benches/pytorch/ and dahl-nn/data/ there
#   scripts/gpu_check.sh --run FOLDER         runs what was built: no cargo; nvcc, compute-sanitizer and PyTorch are used where they are
#   .. --fake                                 on the fake CUDA driver: shows that the commands work; its figures mean nothing
#   .. --seconds N                            for all of it, in place of 600
#   .. --table FILE                           in place of FOLDER/gpu_check.md
#
# PYTHON names the Python that has PyTorch (python3 unless it is set).
set -euo pipefail
cd "$(dirname "$0")/.."
exec "${PYTHON:-python3}" -B scripts/gpu_check/main.py "$@"
