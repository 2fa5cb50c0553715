//! [`Shared`]: what a runtime consists of, for all threads that have to do with it; how ready tasks get from whoever makes
//! them ready to whoever runs them, and how threads wait.
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
