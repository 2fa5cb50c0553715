//! [`Turn`]: which of the tasks that commute on an array may run.
//!
//! Tasks with an access `COMMUTE` to an array become ready together (`chain`), and then run one at a time, in whatever
//! order their other dependencies and the workers bring about. A task that commutes on several arrays takes their turns in the order of the arrays'
//! numbers, so that no two tasks wait for each other.

use std::ptr;

use crate::sync::atomic::{AtomicPtr, Ordering};

/// What waits for a turn.
pub(crate) trait Waits: Sized {
    /// The one behind it on the list of those who wait.
    fn next(&self) -> &AtomicPtr<Self>;
}

/// Whose turn it is: null if nobody's, else the list of those who wait, which ends with [`end`].
///
/// Anybody may put a task on the list; only the holder of the turn takes one off, so a task that it sees at the front
/// stays there.
#[derive(Debug)]
pub(crate) struct Turn<W> {
    waiting: AtomicPtr<W>,
}

/// The end of the list of those who wait: an address at which nobody is.
fn end<W>() -> *mut W {
    ptr::without_provenance_mut(1)
}

impl<W: Waits> Turn<W> {
    pub(crate) fn new() -> Self {
        Self { waiting: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Takes the turn, or puts `task` with those who wait. True if it has the turn; otherwise it may be running
    /// already when this returns.
    pub(crate) fn take(&self, task: &W) -> bool {
        let mut front = self.waiting.load(Ordering::Relaxed);
        loop {
            let new = if front.is_null() {
                end()
            } else {
                task.next().store(front, Ordering::Relaxed);
                ptr::from_ref(task).cast_mut()
            };
            match self.waiting.compare_exchange_weak(front, new, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return front.is_null(),
                Err(now) => front = now,
            }
        }
    }

    /// Gives the turn to one who waits, and says to whom.
    ///
    /// # Safety
    /// The caller has the turn, and those who wait stay where they are until they have had it.
    #[allow(unsafe_code, reason = "looks at the one in front")]
    pub(crate) unsafe fn pass(&self) -> Option<*const W> {
        let mut front = self.waiting.load(Ordering::Acquire);
        loop {
            let new = if front == end() {
                ptr::null_mut()
            } else {
                // SAFETY: the caller's: it waits, and nobody but the caller takes it off.
                unsafe { &*front }.next().load(Ordering::Relaxed)
            };
            match self.waiting.compare_exchange_weak(front, new, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return (front != end()).then_some(front.cast_const()),
                Err(now) => front = now,
            }
        }
    }
}
