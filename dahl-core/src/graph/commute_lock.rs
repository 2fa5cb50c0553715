//! [`CommuteLock`]: a FIFO lock of an array, under which its commuting tasks run one at a time.
//!
//! Tasks with an access `COMMUTE` to an array become ready together (`chain`), and then run one at a time, in an order
//! that their other dependencies and the workers determine. A task that commutes on several arrays takes their locks in
//! the order of the arrays' numbers, so no two tasks wait for each other.

use std::ptr;

use crate::sync::atomic::{AtomicPtr, Ordering};

/// A waiter for a commute lock.
pub(crate) trait LockWaiter: Sized {
    /// The next one on the list of waiters.
    fn next(&self) -> &AtomicPtr<Self>;
}

/// The lock's holder and its waiters, first come, first served, so that none starves.
///
/// Any thread may push a task onto the list of newcomers; only the lock's holder removes tasks. It takes all of them
/// together, and moves them in the order of their arrival to a list that only holders access. Each task is moved once,
/// so handing the lock over takes amortized constant time.
#[derive(Debug)]
pub(crate) struct CommuteLock<W> {
    /// Null if the lock is free, else the latest waiters, the newest first: a list that ends with [`end`].
    newcomers: AtomicPtr<W>,
    /// The earlier waiters, the oldest first: a list that ends with null. Only the lock's holder accesses it.
    oldest: AtomicPtr<W>,
}

/// The end of the list of newcomers: an address that is not a waiter's.
fn end<W>() -> *mut W {
    ptr::without_provenance_mut(1)
}

impl<W: LockWaiter> CommuteLock<W> {
    pub(crate) fn new() -> Self {
        Self { newcomers: AtomicPtr::new(ptr::null_mut()), oldest: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Takes the lock, or appends `task` to the waiters. True if it has the lock; otherwise it may already be running
    /// when this returns.
    pub(crate) fn acquire(&self, task: &W) -> bool {
        let mut front = self.newcomers.load(Ordering::Relaxed);
        loop {
            let new = if front.is_null() {
                end()
            } else {
                task.next().store(front, Ordering::Relaxed);
                ptr::from_ref(task).cast_mut()
            };
            // Acquires the effects of the holder that released the lock, and releases the task's link.
            match self.newcomers.compare_exchange_weak(front, new, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return front.is_null(),
                Err(now) => front = now,
            }
        }
    }

    /// Hands the lock to the task that has waited longest, and returns that task; without waiters the lock is free. The
    /// caller's earlier effects are visible to that task.
    ///
    /// # Safety
    /// The caller holds the lock, and waiters stay in place until they have had it.
    #[allow(unsafe_code, reason = "reads the waiters")]
    pub(crate) unsafe fn hand_over(&self) -> Option<*const W> {
        // Relaxed: earlier holders wrote it, and this one follows them.
        let mut first = self.oldest.load(Ordering::Relaxed);
        if first.is_null() {
            // SAFETY: guaranteed by the caller.
            first = unsafe { self.gather() }?;
        }
        // SAFETY: guaranteed by the caller: it waits, and only the caller removes it.
        let rest = unsafe { &*first }.next().load(Ordering::Relaxed);
        self.oldest.store(rest, Ordering::Relaxed);
        Some(first.cast_const())
    }

    /// Takes all newcomers, and arranges them in the order of their arrival. Returns the first one; without any the
    /// lock is free.
    ///
    /// # Safety
    /// As for [`hand_over`](Self::hand_over); and the list of earlier waiters is empty.
    #[allow(unsafe_code, reason = "reads the waiters")]
    unsafe fn gather(&self) -> Option<*mut W> {
        let (held, free) = (end(), ptr::null_mut());
        // Releases the holder's effects to the next one that takes the lock.
        if self.newcomers.compare_exchange(held, free, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            return None;
        }
        // There is a waiter, and it stays on the list: acquires the links of all waiters.
        let mut newest = self.newcomers.swap(held, Ordering::AcqRel);
        let mut first = ptr::null_mut();
        while newest != held {
            // SAFETY: guaranteed by the caller: it waits, and only the caller removes it.
            let next = unsafe { &*newest }.next();
            let older = next.load(Ordering::Relaxed);
            next.store(first, Ordering::Relaxed);
            (first, newest) = (newest, older);
        }
        Some(first)
    }
}
