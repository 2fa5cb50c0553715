//! [`Parallelism`]: who helps one call of a parallel kernel.
//!
//! Not here: the idle workers (`engine::helper_pool`).
#![allow(unsafe_code, reason = "lends a kernel's views to the one thread that it runs on")]

use crate::autotune::Selection;
use crate::codelet::{Codelet, Kernel, Views, run_with_team};
use crate::engine::{HelperPool, Shared};
use crate::sleep::Sleep;

/// The helpers of one call of a parallel kernel.
#[derive(Clone, Copy)]
pub(super) enum Parallelism<'s> {
    /// None: it spawns no jobs, or only its worker's thread runs them.
    None,
    /// Idle workers.
    Idle(&'s HelperPool, &'s Sleep),
    /// None, on another thread than this one, which is in no pool. With its parallel entry, if the flag is set.
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

    /// Runs a kernel of a codelet on its views.
    pub(super) fn run(self, codelet: &Codelet, kernel: &Kernel, views: &mut Views<'_>) {
        match self {
            Self::None => kernel.run(views, false),
            Self::Idle(pool, sleep) => pool.run(sleep, || run_with_team(codelet, kernel, views)),
            Self::Apart(pool, parallel) => {
                let lent = Lent(views);
                pool.run_apart(move || lent.run(kernel, parallel));
            }
        }
    }
}

/// Views that are passed to another thread.
struct Lent<'l, 'v>(&'l mut Views<'v>);

// SAFETY: this thread waits until the other one has finished with the views, so one thread at a time uses them; what
// they point to, elements, arguments and a task's accesses, is plain data that any thread may handle.
unsafe impl Send for Lent<'_, '_> {}

impl Lent<'_, '_> {
    fn run(self, kernel: &Kernel, parallel: bool) {
        kernel.run(self.0, parallel);
    }
}
