//! [`Queue`]: batches that threads read and one thread takes, in order, with a bound on those that wait.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Numbered items that several threads make and one takes. An item may be begun only if fewer than `ahead` items are
/// begun and not taken.
#[derive(Debug)]
pub(super) struct Queue<I> {
    state: Mutex<State<I>>,
    changed: Condvar,
    items: usize,
    ahead: usize,
}

#[derive(Debug)]
struct State<I> {
    /// The number of the next item to begin.
    next: usize,
    /// The number of the next item to take.
    taken: usize,
    made: BTreeMap<usize, I>,
    is_closed: bool,
}

impl<I> Queue<I> {
    /// A queue for the items with numbers below `items`.
    pub(super) fn new(items: usize, ahead: usize) -> Self {
        let state = State { next: 0, taken: 0, made: BTreeMap::new(), is_closed: false };
        Self { state: Mutex::new(state), changed: Condvar::new(), items, ahead }
    }

    /// No code of others runs under the lock, so a poisoned state is whole.
    fn lock(&self) -> MutexGuard<'_, State<I>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of an item for this thread to make, once there may be one; none if there is nothing left to make.
    pub(super) fn begin(&self) -> Option<usize> {
        let may_not = |state: &mut State<I>| {
            !state.is_closed
                && state.next < self.items
                && state.next >= state.taken.saturating_add(self.ahead)
        };
        let mut state = self.changed.wait_while(self.lock(), may_not).unwrap_or_else(PoisonError::into_inner);
        if state.is_closed || state.next == self.items {
            return None;
        }
        state.next += 1;
        Some(state.next - 1)
    }

    /// Adds an item that [`begin`](Self::begin) has named.
    pub(super) fn put(&self, number: usize, item: I) {
        self.lock().made.insert(number, item);
        self.changed.notify_all();
    }

    /// The next item, once it is made. There must be one.
    pub(super) fn take(&self) -> I {
        let mut state = self.lock();
        loop {
            let number = state.taken;
            if let Some(item) = state.made.remove(&number) {
                state.taken += 1;
                self.changed.notify_all();
                return item;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Begins no further item.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_all();
    }
}
