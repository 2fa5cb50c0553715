//! Tests of this crate, in one program.

mod c_kernels;
mod cuda;
mod forms;
mod numerics;
mod parallel;
mod refused;
mod scheduler;
mod story;
mod variants;
