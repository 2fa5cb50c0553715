//! [`Parallelism`]: who helps one call of a parallel kernel.
//!
//! Not here: the idle workers (`engine::helper_pool`).
#![allow(unsafe_code, reason = "lends a kernel's views to the one thread that it runs on")]

use crate::autotune::Selection;
use crate::codelet::{Kernel, Views};
use crate::engine::{HelperPool, Shared};
use crate::sleep::Sleep;

/// Who helps one call of a parallel kernel.
#[derive(Clone, Copy)]
pub(super) enum Parallelism<'s> {
    /// No helpers: it makes no jobs, or only its worker's thread takes them.
    None,
    /// Idle workers.
    Idle(&'s HelperPool, &'s Sleep),
    /// No helpers, on another thread than this, which is in no pool. By its parallel entry, if the flag says so.
    Apart(&'s HelperPool, bool),
}

impl<'s> Parallelism<'s> {
    pub(super) fn new(shared: &'s Shared, selection: &Selection, is_in_pool: bool) -> Self {
        if is_in_pool && selection.team {
            Self::Idle(shared.helpers(), shared.sleep())
        } else if !is_in_pool && selection.kernel.makes_jobs(selection.team) {
            Self::Apart(shared.helpers(), selection.team)
        } else {
            Self::None
        }
    }

    /// Runs a kernel on its views.
    pub(super) fn run(self, kernel: &Kernel, views: &mut Views<'_>) {
        match self {
            Self::None => kernel.run(views, false),
            Self::Idle(pool, sleep) => pool.run(sleep, || kernel.run(views, true)),
            Self::Apart(pool, parallel) => {
                let lent = Lent(views);
                pool.run_apart(move || lent.run(kernel, parallel));
            }
        }
    }
}

/// Views on their way to another thread.
struct Lent<'l, 'v>(&'l mut Views<'v>);

// SAFETY: this thread waits until the other one is done with the views, so they are used by one thread at a time; what
// they lead to, elements, arguments and a task's accesses, is plain data that any thread may handle.
unsafe impl Send for Lent<'_, '_> {}

impl Lent<'_, '_> {
    fn run(self, kernel: &Kernel, parallel: bool) {
        kernel.run(self.0, parallel);
    }
}
