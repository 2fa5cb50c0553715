//! [`Watch`]: whether tasks complete while a thread waits.

use std::time::Duration;

use super::running::Stall;
use crate::graph::Dispatch;
use crate::sleep::Lookout;

/// How long no task has been completed, as one thread that waits sees it.
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

    /// Looks whether something was completed, and if nothing was for too long, reports it.
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
