#!/usr/bin/env bash
# Installs CUDA's compiler and NVRTC into target/cuda, from Python's package index: no GPU, no driver and no root are needed.
# Then `CUDA_HOME="$(scripts/cuda_toolkit.sh)" cargo build` compiles the CUDA kernels. Run again at will.
#
# All versions are pinned: without that pip mixes some, and their PTX is one that drivers of CUDA 13.0 refuse.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$PWD/target/cuda
packages=(
    nvidia-cuda-nvcc==13.0.88 nvidia-nvvm==13.0.88 nvidia-cuda-crt==13.0.88
    nvidia-cuda-runtime==13.0.96 nvidia-cuda-cccl==13.0.85 nvidia-cuda-nvrtc==13.0.88
)
installed=$folder/installed
if [ "$(cat "$installed" 2>/dev/null)" != "${packages[*]}" ]; then
    rm -rf "$folder"
    python3 -m pip install --quiet --disable-pip-version-check --no-deps --target "$folder" "${packages[@]}" >&2
    # nvcc looks for libraries in lib64.
    ln -sfn lib "$folder/nvidia/cu13/lib64"
    echo "${packages[*]}" >"$installed"
fi
echo "$folder/nvidia/cu13"
