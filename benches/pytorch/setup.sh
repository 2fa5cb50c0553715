#!/bin/sh
# Makes the Python environment that the comparison runs in: target/pytorch, some 6 GB with the wheels of PyPI, once.
#
#   benches/pytorch/setup.sh             python3 -m venv, and requirements.txt
#   PYTHON=python3.11 benches/pytorch/setup.sh
set -eu
cd "$(dirname "$0")/../.."
environment=target/pytorch
requirements=benches/pytorch/requirements.txt
stamp=$environment/requirements.txt

if cmp -s "$requirements" "$stamp"; then
    exit 0
fi
"${PYTHON:-python3}" -m venv "$environment"
"$environment/bin/pip" install --quiet --requirement "$requirements"
cp "$requirements" "$stamp"
