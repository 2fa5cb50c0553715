//! [`Queue`]: what threads read and one thread takes, in order, with a bound on what waits.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Numbered items that several threads make and one takes. An item may be begun only if fewer than `ahead` items are
/// begun and not taken.
#[derive(Debug)]
pub(super) struct Queue<I> {
    state: Mutex<State<I>>,
    may_begin: Condvar,
    is_made: Condvar,
    ahead: usize,
}

#[derive(Debug)]
struct State<I> {
    /// The number of the next item to begin.
    next: usize,
    /// The number of the next item to take.
    taken: usize,
    made: BTreeMap<usize, I>,
    /// The number of items so far.
    items: usize,
    is_closed: bool,
}

impl<I> Queue<I> {
    /// A queue without items yet.
    pub(super) fn new(ahead: usize) -> Self {
        let state = State { next: 0, taken: 0, made: BTreeMap::new(), items: 0, is_closed: false };
        Self { state: Mutex::new(state), may_begin: Condvar::new(), is_made: Condvar::new(), ahead }
    }

    /// No code of others runs under the lock, so a poisoned state is whole.
    fn lock(&self) -> MutexGuard<'_, State<I>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds items to make, whose numbers follow those before.
    pub(super) fn add(&self, items: usize) {
        self.lock().items += items;
        self.may_begin.notify_all();
    }

    /// The number of an item for this thread to make, once there may be one; none if the queue is closed.
    pub(super) fn begin(&self) -> Option<usize> {
        let may_not = |state: &mut State<I>| {
            !state.is_closed
                && (state.next == state.items || state.next >= state.taken.saturating_add(self.ahead))
        };
        let mut state =
            self.may_begin.wait_while(self.lock(), may_not).unwrap_or_else(PoisonError::into_inner);
        if state.is_closed {
            return None;
        }
        state.next += 1;
        Some(state.next - 1)
    }

    /// Adds an item that [`begin`](Self::begin) has named.
    pub(super) fn put(&self, number: usize, item: I) {
        let mut state = self.lock();
        state.made.insert(number, item);
        if number == state.taken {
            self.is_made.notify_one();
        }
    }

    /// The next item, once it is made. There must be one. Threads that wait begin again when half of what may be ahead
    /// is taken: waking a thread takes longer than reading a few small samples.
    pub(super) fn take(&self) -> I {
        let mut state = self.lock();
        loop {
            let number = state.taken;
            if let Some(item) = state.made.remove(&number) {
                state.taken += 1;
                if state.next - state.taken <= self.ahead / 2 {
                    self.may_begin.notify_all();
                }
                return item;
            }
            state = self.is_made.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Begins no further item.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.may_begin.notify_all();
    }
}
