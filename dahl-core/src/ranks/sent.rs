//! [`MessageTotal`]: how much a rank has sent.

use crate::sync::atomic::{AtomicU64, Ordering};

/// The messages with values of arrays that a rank has sent, or will when their tasks have ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MessageTotal {
    /// The number of messages.
    pub count: u64,
    /// Their elements, in bytes.
    pub bytes: u64,
}

/// Counts them. One thread submits, and so counts.
#[derive(Debug, Default)]
pub(crate) struct Sent {
    count: AtomicU64,
    bytes: AtomicU64,
}

impl Sent {
    pub(crate) fn add(&self, bytes: usize) {
        self.count.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(crate) fn total(&self) -> MessageTotal {
        MessageTotal { count: self.count.load(Ordering::Relaxed), bytes: self.bytes.load(Ordering::Relaxed) }
    }
}
