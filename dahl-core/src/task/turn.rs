//! [`Turn`]: which of the tasks that commute on an array may run.
//!
//! Tasks with an access `COMMUTE` to an array become ready together (`chain`), and then run one at a time, in whatever
//! order their other dependencies and the workers bring about. A task that commutes on several arrays takes their turns in the order of the arrays'
//! numbers, so that no two tasks wait for each other.

use std::ptr;

use super::record::Record;
use crate::sync::atomic::{AtomicPtr, Ordering};

/// Whose turn it is: null if nobody's, else the list of tasks that wait, which ends with [`END`].
///
/// Anybody may put a task on the list; only the holder of the turn takes one off, so a task that it sees at the front
/// stays there.
#[derive(Debug)]
pub(crate) struct Turn {
    waiting: AtomicPtr<Record>,
}

/// The end of the list of those who wait: an address at which no record is.
const END: *mut Record = ptr::without_provenance_mut(1);

impl Turn {
    pub(crate) fn new() -> Self {
        Self { waiting: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Takes the turn, or puts `record` with those who wait. True if it has the turn; otherwise it may be running
    /// already when this returns.
    pub(super) fn take(&self, record: &Record) -> bool {
        let mut front = self.waiting.load(Ordering::Relaxed);
        loop {
            let new = if front.is_null() {
                END
            } else {
                record.next().store(front, Ordering::Relaxed);
                ptr::from_ref(record).cast_mut()
            };
            match self.waiting.compare_exchange_weak(front, new, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return front.is_null(),
                Err(now) => front = now,
            }
        }
    }

    /// Gives the turn to one who waits, and says to whom.
    ///
    /// `next_of` leads from a task on the list to the one behind it.
    pub(super) fn pass(&self, next_of: impl Fn(*mut Record) -> *mut Record) -> Option<*const Record> {
        let mut front = self.waiting.load(Ordering::Acquire);
        loop {
            let new = if front == END { ptr::null_mut() } else { next_of(front) };
            match self.waiting.compare_exchange_weak(front, new, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return (front != END).then_some(front.cast_const()),
                Err(now) => front = now,
            }
        }
    }
}
