# Commands of this repository: `just` lists them.

[private]
default:
    @just --list

# What must hold of a commit.
ci:
    .ci/run

# Runs the tests that take random programs, many times over.
soak rounds="20":
    for round in $(seq {{rounds}}); do PROPTEST_CASES=1024 cargo test --release --package dahl --package dahl-core || exit 1; done

# Measures the cost of a task, and that generated code is as fast as loops written by hand.
bench:
    cargo bench --package dahl
    cargo bench --package dahl-core

# Makes the reference losses of PyTorch anew (needs Python; installs PyTorch into target/fixtures).
fixtures:
    python3 -m venv target/fixtures
    target/fixtures/bin/pip install --quiet torch numpy safetensors
    for script in dahl-nn/tests/reference/*.py; do target/fixtures/bin/python "$script" || exit 1; done
