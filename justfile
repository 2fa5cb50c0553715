# Commands of this repository: `just` lists them.

[private]
default:
    @just --list

# What must hold of a commit.
ci:
    .ci/run

# Runs every test, on every input: an hour or more. Or parts of it: numerics, kernels, compiler, vectors.
thorough *parts:
    scripts/thorough.sh {{parts}}

# Measures what docs/build-times.md shows, of HEAD or of the revisions named. For a machine with nothing else to do.
build-times *revisions:
    scripts/build_times.py {{revisions}}

# Draws the crates and the rooms of the core as floors: docs/images/floors.svg.
floors:
    cargo run -p dahl-floors

# Compares random programs with the sequential oracle, 10,000 a process: some forget arrays on purpose, whose memory stays.
soak rounds="100":
    for round in $(seq {{rounds}}); do \
        DAHL_RANDOM_PROGRAMS=10000 cargo test --quiet --release -p dahl-core --test dahl_core random_programs:: || exit 1; \
    done

# Runs so many times 10,000 random programs on simulated machines with small memories, devices that are lost, and every
# scheduler. (Each time in a new process: programs forget arrays, which keep their runtime.)
soak-devices rounds="30":
    for round in $(seq {{rounds}}); do \
        DAHL_RANDOM_PROGRAMS=10000 cargo test --quiet -p dahl-core --test dahl_core on_devices || exit 1; \
    done

# Compares so many times 10,000 random programs of maps, views, reductions and products, with passes and without: a million by default.
soak-passes rounds="100":
    for round in $(seq {{rounds}}); do \
        DAHL_RANDOM_PROGRAMS=10000 cargo test --quiet --release --test dahl programs::random || exit 1; \
    done

# Runs small programs on the whole runtime by seeded schedules. `DAHL_FUZZ_SEED=s just fuzz` replays one seed.
fuzz seeds="10000":
    RUSTFLAGS="--cfg dahl_fuzz" CARGO_TARGET_DIR=target/fuzz DAHL_FUZZ_SEEDS={{seeds}} cargo test -p dahl-core --test fuzz

# Runs the runtime's tests under memcheck. (Valgrind does not emulate AVX-512.)
valgrind programs="1000":
    DAHL_SIMD=v3 DAHL_RANDOM_PROGRAMS={{programs}} \
        CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER="valgrind --quiet --error-exitcode=1 --fair-sched=yes" \
        cargo test -p dahl-core --test dahl_core -- by_hand:: in_any_order:: random_programs:: coherence::

# Runs the CUDA kernels on the CPU under memcheck: those that are compared with the CPU's, and some of the numerics in f32.
valgrind-kernels filter="moved":
    DAHL_SIMD=v3 CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER="valgrind --quiet --error-exitcode=1 --fair-sched=yes" \
        cargo test -p cuda-on-cpu --test cpu_kernels
    DAHL_SIMD=v3 CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER="valgrind --quiet --error-exitcode=1 --fair-sched=yes" \
        cargo test -p cuda-on-cpu --test numerics {{filter}}

# Runs ten million tasks on two workers and compares the memory.
overload tasks="10000000":
    DAHL_OVERLOAD_TASKS={{tasks}} cargo test --release --test overload -- --nocapture

# Measures the cost of a task, generated code against loops written by hand, elementary functions, and training.
bench:
    cargo bench -p dahl-benches -p dahl-element

# Shows what the loops in vectors of a program call (needs binutils): closures of `core` should not be among it.
calls-in-vectors program:
    scripts/calls_in_vectors.sh {{program}}

# Makes PyTorch's losses and results, which tests compare with, anew (needs Python; installs PyTorch into target/fixtures).
fixtures:
    python3 -m venv target/fixtures
    target/fixtures/bin/pip install --quiet torch numpy safetensors
    for script in dahl-nn/tests/reference/*.py tests/pytorch/make_fixtures.py; do target/fixtures/bin/python "$script" || exit 1; done

# Packs the crates into target/package, with PTX of their CUDA kernels for machines that have a driver and no compiler of CUDA
# (installs CUDA's compiler into target/cuda).
release:
    scripts/make_ptx.sh
    cargo package --workspace --no-verify --allow-dirty --exclude dahl-benches --exclude dahl-floors --exclude user-crate --exclude cuda-devices --exclude cuda-on-cpu --exclude cuda-kernels --exclude fake-cuda
    rm -r kernels/ptx dahl-nn/kernels/ptx

# Lets NVRTC compile every entry point of every CUDA kernel for an A100 and an H100, and lists the times (installs CUDA's compiler).
kernels-by-nvrtc:
    DAHL_NVRTC_ALL=1 DAHL_NVRTC="$(scripts/cuda_toolkit.sh)/lib" cargo test -p dahl-build --test nvrtc -- --nocapture

# Runs all studies, or those named, and writes what docs/studies shows of them. For a machine with nothing else to do.
studies *names:
    scripts/studies.sh {{names}}

# Compares dahl with PyTorch, StarPU and rayon and writes docs/performance.md: half an hour, when nothing else runs.
performance: performance-pytorch performance-starpu performance-granularity

# Compares dahl with PyTorch: all rows, or `just performance-pytorch --quick`, `--rows 'small-f32-*'`.
performance-pytorch *options:
    benches/pytorch/setup.sh
    target/pytorch/bin/python benches/pytorch/compare.py {{options}}

# Compares the cost of a task with StarPU's (needs libstarpu-dev, Debian's).
performance-starpu *options:
    benches/starpu/compare.py {{options}}

# Measures how small tasks may be, beside rayon: the study, its page, and docs/performance.md.
performance-granularity *options:
    benches/granularity.py {{options}}
