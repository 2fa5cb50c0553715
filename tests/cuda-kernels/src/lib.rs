//! The CUDA kernels of dahl, those that are generated from maps, and those with a mistake in `kernels/`, compiled by g++
//! (`on_cpu.h` of `dahl-cuda`) into one archive, with two ways in.
//!
//! `dahl_on_cpu_NAME` runs all launches of an operation: `cuda-on-cpu` compares its results. The entries of `entry.h`
//! are single kernels by the names that a module has for them: `cuda-stand-in` launches them as a driver does. Both find the
//! archive and the table of the first in what this build script tells theirs: `DEP_DAHL_CUDA_KERNELS_FOLDER`.
