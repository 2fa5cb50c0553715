//! [`Executor`]: what runs the tasks of a runtime beside its workers: the host's own thread, which helps and waits, and the
//! simulation.
//!
//! Not here: the handle that programs hold (`runtime`).

mod engine;
mod simulated;
mod waiting;

pub(crate) use engine::Executor;
