//! [`Shared`]: the state of a runtime, for all threads that use it; how ready tasks get to the threads that run them,
//! and how threads wait.
//!
//! Not here: the handle that programs hold (`runtime`), and its settings (`config`).

mod allocation;
mod dispatch;
mod real;
mod shared;
mod simulated;
mod waiting;

pub(crate) use allocation::{block_for, block_in_submission, wait_for};
pub(crate) use shared::Shared;
