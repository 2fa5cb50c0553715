//! [`Shared`]: the state that the workers of a runtime share; how ready tasks get to the threads that run them.
//!
//! Not here: what tasks and arrays share (`graph`), how a thread waits (`executor`), the public handle (`runtime`), and the
//! settings (`config`).

mod dispatch;
mod energy;
mod helper_pool;
mod real;
mod shared;

#[cfg(not(dahl_fuzz))]
pub(crate) use helper_pool::detached;
pub(crate) use helper_pool::{HelperPool, REST};
pub(crate) use shared::Shared;
