//! [`Watch`]: whether tasks complete while a thread waits.

use std::time::Duration;

use crate::engine::Shared;
use crate::sleep::Lookout;

/// How long no task has been completed, as one thread that waits sees it.
pub(crate) struct Watch<'s> {
    shared: &'s Shared,
    completed: u64,
    since_ns: u64,
}

impl<'s> Watch<'s> {
    /// A watch that begins now.
    pub(crate) fn new(shared: &'s Shared) -> Self {
        Self { shared, completed: shared.completed(), since_ns: shared.clock().now_ns() }
    }
}

impl Lookout for Watch<'_> {
    fn patience(&self) -> Option<Duration> {
        let waited = Duration::from_nanos(self.shared.clock().ns_since(self.since_ns));
        self.shared.stall().after.map(|after| after.saturating_sub(waited))
    }

    /// Looks whether something was completed, and if nothing was for too long, reports it.
    fn look(&mut self) {
        let completed = self.shared.completed();
        let stalls =
            completed == self.completed && self.patience().is_some_and(|patience| patience.is_zero());
        if stalls {
            self.shared.stall().report(self.shared, completed);
        }
        if stalls || completed != self.completed {
            (self.completed, self.since_ns) = (completed, self.shared.clock().now_ns());
        }
    }
}
