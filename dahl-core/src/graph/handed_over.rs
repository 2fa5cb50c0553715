//! [`HandedOver`]: how many splits and joins were handed over, which no other count includes.

use crate::sync::atomic::{AtomicUsize, Ordering, fence};

/// Splits and joins that were handed over and have not run. They are not counted as submitted, so without this the runtime
/// would look drained while there is one, and its workers would leave.
#[derive(Debug, Default)]
pub(crate) struct HandedOver(AtomicUsize);

impl HandedOver {
    /// Counts one, before it is handed over. A thread whose count of completed tasks orders this is done here. Another one
    /// then asks whether the runtime has stopped; if it has not, no worker leaves before this one has run: a worker sees
    /// that the runtime has stopped and then asks [`is_empty`](Self::is_empty). With a fence between the two steps on each
    /// side, the worker sees the count, or this thread that the runtime has stopped.
    pub(crate) fn add(&self) {
        // Relaxed: the fence orders it before what this thread reads next, and whoever acquires the completion of the task
        // that made the join ready, which is counted later, sees it.
        self.0.fetch_add(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
    }

    /// Counts one that has run, and after it what it has made ready.
    pub(crate) fn remove(&self) {
        // Release: who reads that there is none sees what it did.
        self.0.fetch_sub(1, Ordering::Release);
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        fence(Ordering::SeqCst);
        // Acquire: of the removals, each of which continues the release sequence of those before.
        self.0.load(Ordering::Acquire) == 0
    }
}
