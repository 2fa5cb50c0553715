//! Models of the lock-free parts, explored by loom over the interleavings and memory orders of a few threads.
//!
//! Each model compiles the runtime's own file, with loom's atomics and locks behind `crate::sync`.

mod chain;
mod commute_lock;
mod content;
mod countdown;
mod handed_over;
mod references;
mod slab;
mod sleep;

#[path = "../../src/sync/parker.rs"]
mod parker;

mod sync {
    pub(crate) use loom::sync::{Condvar, Mutex, MutexGuard, atomic};
    pub(crate) use loom::thread;

    pub(crate) use crate::parker::{Parker, Unparker};
}

/// Explores a model, with at most `preemptions` switches in a run away from a thread that could continue.
fn explore(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}
