//! [`Countdown`]: the number of events that are missing before a task can run, or before its record can be reused.

use crate::sync::atomic::{AtomicU32, Ordering};

/// A number of pending events. The thread that counts the last one has seen the effects before all others.
#[derive(Debug)]
pub(super) struct Countdown(AtomicU32);

impl Countdown {
    pub(super) fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// Sets the number of events, before any of them can happen.
    pub(super) fn arm(&self, events: u32) {
        self.0.store(events, Ordering::Release);
    }

    /// Adds an event if any is pending; the caller has then seen the effects before [`arm`](Self::arm).
    pub(super) fn add_one(&self) -> bool {
        let more = |missing| if missing > 0 { Some(missing + 1) } else { None };
        self.0.fetch_update(Ordering::Acquire, Ordering::Relaxed, more).is_ok()
    }

    /// Whether any event is pending.
    pub(super) fn is_running(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }

    /// Counts events if [`add_one`](Self::add_one) is never called; true if none is pending any more.
    pub(super) fn count_unpinned(&self, events: u32) -> bool {
        // If the last events are the caller's, nothing else changes the number: no locked instruction is needed.
        if self.0.load(Ordering::Acquire) == events {
            self.0.store(0, Ordering::Relaxed);
            return true;
        }
        self.count(events)
    }

    /// Counts events; true if none is pending any more.
    pub(super) fn count(&self, events: u32) -> bool {
        self.0.fetch_sub(events, Ordering::AcqRel) == events
    }
}
