//! The CUDA kernels of dahl, those that are generated from its maps, those with a mistake each in `kernels/`, and some on plain
//! pointers in `others/`, compiled by g++ (`on_cpu.h` of `dahl-cuda`) into one archive, with two ways in.
//!
//! Functions `dahl_on_cpu_sum_axis_f32`, by the tables that `dahl_build::on_cpu` writes: `cuda-on-cpu` compares what they compute with the
//! references of the operations. And the table of `src/entry.h`, by the names that a module has for kernels, with their
//! parameters: `fake-cuda` launches them as a driver does. Both find archive and tables by what this build script tells
//! theirs, `DEP_DAHL_CUDA_KERNELS_FOLDER`.
