//! The CUDA kernels of dahl, those that are generated from its maps, those with one mistake each in `kernels/`, and
//! some on plain pointers in `others/`, compiled by g++ (`on_cpu.h` of `dahl-cuda`) into one archive with two
//! interfaces.
//!
//! - Functions such as `dahl_on_cpu_sum_axis_f32`, in the tables that `dahl_build::on_cpu` writes: `cuda-on-cpu`
//!   compares their results with the references of the operations.
//! - The table of `src/entry.h`, by the names of kernels in a module, with their parameters: `fake-cuda` launches them
//!   as a driver does.
//!
//! Both find the archive and the tables by the variable that this build script sets for theirs,
//! `DEP_DAHL_CUDA_KERNELS_FOLDER`.
