//! [`Content`]: whether an array holds values, zeros to be filled in, nothing, or a failure; one atomic byte of its
//! state.

use crate::sync::atomic::{AtomicU8, Ordering};
use crate::sync::thread;

/// The content of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Content {
    /// Its elements.
    Ready,
    /// Zeros, not yet written.
    Zero,
    /// None yet: the first task must write it.
    Unset,
    /// None: a task that should have written it failed.
    Poisoned,
    /// A reader is changing one of the above to `Ready`.
    Busy,
}

impl Content {
    fn from_u8(value: u8) -> Self {
        const ALL: [Content; 5] =
            [Content::Ready, Content::Zero, Content::Unset, Content::Poisoned, Content::Busy];
        ALL[usize::from(value)]
    }
}

/// The content of an array, shared by all threads.
///
/// The holder of an exclusive access may change it. Of several readers that find content that is not ready, one claims
/// it; the others wait until it is resolved, which takes no lock and waits for nothing.
#[derive(Debug)]
pub(crate) struct AtomicContent(AtomicU8);

impl AtomicContent {
    pub(crate) fn new(content: Content) -> Self {
        Self(AtomicU8::new(content as u8))
    }

    /// The content; effects from before it was [set](Self::set) are visible.
    pub(crate) fn get(&self) -> Content {
        Content::from_u8(self.0.load(Ordering::Acquire))
    }

    /// Ends a claim, or changes the content under an exclusive access.
    pub(crate) fn set(&self, content: Content) {
        self.0.store(content as u8, Ordering::Release);
    }

    /// `Ready`, or content that the caller must now resolve and [set](Self::set): alone, since its access is exclusive
    /// or since it is the reader that claimed it.
    pub(crate) fn claim(&self, shared: bool) -> Content {
        loop {
            match self.get() {
                Content::Busy => thread::yield_now(), // another reader is filling it, and waits for nobody
                before if shared && before != Content::Ready => {
                    let (before_byte, busy) = (before as u8, Content::Busy as u8);
                    let seen =
                        self.0.compare_exchange(before_byte, busy, Ordering::Acquire, Ordering::Relaxed);
                    if seen.is_ok() {
                        return before;
                    }
                }
                before => return before,
            }
        }
    }
}
