//! [`Gathered`]: how many bytes a rank has of sharded arrays of other ranks.

use crate::sync::atomic::{AtomicUsize, Ordering};

/// The bytes that this rank has, or has asked for, of sharded arrays of other ranks.
#[derive(Debug)]
pub(crate) struct Gathered {
    bytes: AtomicUsize,
    peak: AtomicUsize,
    /// The most that it asks for at a time, unless a single array is larger.
    limit: AtomicUsize,
}

impl Default for Gathered {
    fn default() -> Self {
        Self { bytes: AtomicUsize::new(0), peak: AtomicUsize::new(0), limit: AtomicUsize::new(usize::MAX) }
    }
}

impl Gathered {
    pub(crate) fn set_limit(&self, bytes: usize) {
        self.limit.store(bytes, Ordering::Relaxed);
    }

    /// Whether so many more bytes are within the limit.
    pub(crate) fn has_room(&self, bytes: usize) -> bool {
        let now = self.bytes.load(Ordering::Acquire);
        now == 0 || now.saturating_add(bytes) <= self.limit.load(Ordering::Relaxed)
    }

    /// The thread that submits asks for so many.
    pub(crate) fn add(&self, bytes: usize) {
        let now = self.bytes.fetch_add(bytes, Ordering::AcqRel) + bytes;
        self.peak.fetch_max(now, Ordering::Relaxed);
    }

    /// So many have been dropped.
    pub(crate) fn remove(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes, Ordering::AcqRel);
    }

    pub(crate) fn peak(&self) -> usize {
        self.peak.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::Gathered;

    #[test]
    fn an_array_larger_than_the_limit_is_alone() {
        let gathered = Gathered::default();
        gathered.set_limit(100);
        assert!(gathered.has_room(300));
        gathered.add(300);
        assert!(!gathered.has_room(1));
        gathered.remove(300);
        gathered.add(60);
        assert!(gathered.has_room(40) && !gathered.has_room(41));
        assert_eq!(gathered.peak(), 300);
    }
}
