//! [`References`]: a count of the users of something that the last one gives back.

use crate::sync::atomic::{AtomicUsize, Ordering, fence};

/// A count of references. The thread that releases the last one has seen the effects of all others before their
/// release.
#[derive(Debug)]
pub(crate) struct References(AtomicUsize);

impl References {
    pub(crate) fn new(count: usize) -> Self {
        Self(AtomicUsize::new(count))
    }

    /// Sets the first reference, to an object that was free.
    pub(crate) fn restart(&self) {
        self.0.store(1, Ordering::Relaxed);
    }

    /// Adds one; the caller holds one.
    pub(crate) fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Releases one; true if it was the last.
    pub(crate) fn let_go(&self) -> bool {
        let last = self.0.fetch_sub(1, Ordering::Release) == 1;
        if last {
            fence(Ordering::Acquire);
        }
        last
    }

    /// How many there are now.
    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::Acquire)
    }

    /// Whether the caller's is the only one; it has then seen the effects of others before their release.
    pub(crate) fn is_sole(&self) -> bool {
        self.0.load(Ordering::Acquire) == 1
    }
}
