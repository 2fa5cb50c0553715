//! [`CommuteLock`]: a FIFO lock of an array, under which its commuting tasks run one at a time.
//!
//! Tasks with an access `COMMUTE` to an array become ready together (`chain`), and then run one at a time, in an order
//! that their other dependencies and the workers determine. A task that commutes on several arrays takes their locks in
//! the order of the arrays' numbers, so no two tasks wait for each other.

use std::ptr;

use crate::sync::atomic::{AtomicPtr, Ordering};

/// What waits for a commute lock.
pub(crate) trait LockWaiter: Sized {
    /// The one behind it on the list of waiters.
    fn next(&self) -> &AtomicPtr<Self>;
}

/// The lock's holder and its waiters: first come, first served, so that none starves.
///
/// Any thread may push a task onto the list of newcomers; only the lock's holder takes tasks off. It takes all at once, and
/// puts them in the order in which they came on a list that holders alone see. Each task is put there once, so handing
/// the lock over takes amortized constant time.
#[derive(Debug)]
pub(crate) struct CommuteLock<W> {
    /// Null if the lock is free, else the waiters who came last, the newest first: a list that ends with [`end`].
    newcomers: AtomicPtr<W>,
    /// The waiters who came before, the oldest first: a list that ends with null. The lock's holder alone uses it.
    oldest: AtomicPtr<W>,
}

/// The end of the list of newcomers: an address at which nobody is.
fn end<W>() -> *mut W {
    ptr::without_provenance_mut(1)
}

impl<W: LockWaiter> CommuteLock<W> {
    pub(crate) fn new() -> Self {
        Self { newcomers: AtomicPtr::new(ptr::null_mut()), oldest: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Takes the lock, or puts `task` with the waiters. True if it has the lock; otherwise it may be running
    /// already when this returns.
    pub(crate) fn acquire(&self, task: &W) -> bool {
        let mut front = self.newcomers.load(Ordering::Relaxed);
        loop {
            let new = if front.is_null() {
                end()
            } else {
                task.next().store(front, Ordering::Relaxed);
                ptr::from_ref(task).cast_mut()
            };
            // Acquires what the holder did who released the lock, and releases the task's link.
            match self.newcomers.compare_exchange_weak(front, new, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return front.is_null(),
                Err(now) => front = now,
            }
        }
    }

    /// Hands the lock to the task that has waited longest, and returns that task; without waiters the lock is free. What
    /// the caller did before is visible to that task.
    ///
    /// # Safety
    /// The caller holds the lock, and waiters stay where they are until they have had it.
    #[allow(unsafe_code, reason = "reads the waiters")]
    pub(crate) unsafe fn hand_over(&self) -> Option<*const W> {
        // Relaxed: it was written by the holders before, whom this one comes after.
        let mut first = self.oldest.load(Ordering::Relaxed);
        if first.is_null() {
            // SAFETY: the caller's.
            first = unsafe { self.gather() }?;
        }
        // SAFETY: the caller's: it waits, and nobody but the caller takes it off.
        let rest = unsafe { &*first }.next().load(Ordering::Relaxed);
        self.oldest.store(rest, Ordering::Relaxed);
        Some(first.cast_const())
    }

    /// Takes all newcomers, and puts them in the order in which they came: the first of them. The lock is free if
    /// there are none.
    ///
    /// # Safety
    /// As of [`hand_over`](Self::hand_over); and nobody is on the list of those who came before.
    #[allow(unsafe_code, reason = "reads the waiters")]
    unsafe fn gather(&self) -> Option<*mut W> {
        let (held, free) = (end(), ptr::null_mut());
        // Releases what the holder did to whoever takes the lock next.
        if self.newcomers.compare_exchange(held, free, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            return None;
        }
        // Somebody waits, and stays on the list: acquires the links of all on it.
        let mut newest = self.newcomers.swap(held, Ordering::AcqRel);
        let mut first = ptr::null_mut();
        while newest != held {
            // SAFETY: the caller's: it waits, and nobody but the caller takes it off.
            let next = unsafe { &*newest }.next();
            let older = next.load(Ordering::Relaxed);
            next.store(first, Ordering::Relaxed);
            (first, newest) = (newest, older);
        }
        Some(first)
    }
}
