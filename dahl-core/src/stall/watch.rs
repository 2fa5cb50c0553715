//! [`Watch`]: whether tasks complete while a thread waits.

use std::time::Duration;

use super::running::Stall;
use crate::graph::Dispatch;
use crate::sleep::Lookout;

/// The time without a completed task, as seen by one waiting thread.
pub(crate) struct Watch<'s> {
    dispatch: &'s dyn Dispatch,
    stall: &'s Stall,
    completed: u64,
    since_ns: u64,
}

impl<'s> Watch<'s> {
    /// A watch that begins now.
    pub(crate) fn new(dispatch: &'s dyn Dispatch, stall: &'s Stall) -> Self {
        let host = dispatch.host();
        Self { dispatch, stall, completed: host.completed(), since_ns: host.clock().now_ns() }
    }
}

impl Lookout for Watch<'_> {
    fn patience(&self) -> Option<Duration> {
        let waited = Duration::from_nanos(self.dispatch.host().clock().ns_since(self.since_ns));
        self.stall.after.map(|after| after.saturating_sub(waited))
    }

    /// Checks for completed tasks, and reports a stall if there were none for too long.
    fn look(&mut self) {
        let completed = self.dispatch.host().completed();
        let stalls =
            completed == self.completed && self.patience().is_some_and(|patience| patience.is_zero());
        if stalls {
            self.stall.report(self.dispatch, completed);
        }
        if stalls || completed != self.completed {
            (self.completed, self.since_ns) = (completed, self.dispatch.host().clock().now_ns());
        }
    }
}
