//! [`Waiter`]: a thread that waits for an access.

use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::thread::{self, Thread};

/// A thread that waits for an access.
#[derive(Debug)]
pub(crate) struct Waiter {
    thread: Thread,
    told: AtomicBool,
}

impl Waiter {
    /// A waiter for this thread.
    pub(crate) fn new() -> Self {
        Self { thread: thread::current(), told: AtomicBool::new(false) }
    }

    /// Wakes the thread. The waiter may be gone when this returns.
    pub(crate) fn tell(&self) {
        let thread = self.thread.clone();
        self.told.store(true, Ordering::Release);
        thread.unpark();
    }

    /// Whether it has been woken.
    pub(crate) fn is_told(&self) -> bool {
        self.told.load(Ordering::Acquire)
    }
}
