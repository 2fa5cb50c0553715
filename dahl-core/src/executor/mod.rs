//! [`Executor`]: runs the tasks of a runtime besides its workers: by the host's own thread, which helps and waits, and by the
//! simulation.
//!
//! Not here: the public handle (`runtime`).

mod engine;
mod simulated;
mod waiting;

pub(crate) use engine::Executor;
