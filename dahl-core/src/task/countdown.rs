//! [`Countdown`]: what is still missing before a task can run, or its record can be used anew.

use crate::sync::atomic::{AtomicU32, Ordering};

/// A number of events that are awaited. Whoever counts the last one has seen what led to all others.
#[derive(Debug)]
pub(super) struct Countdown(AtomicU32);

impl Countdown {
    pub(super) fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// Awaits so many events, before any of them can happen.
    pub(super) fn arm(&self, events: u32) {
        self.0.store(events, Ordering::Relaxed);
    }

    /// Counts events; true if none is missing any more.
    pub(super) fn count(&self, events: u32) -> bool {
        self.0.fetch_sub(events, Ordering::AcqRel) == events
    }
}
