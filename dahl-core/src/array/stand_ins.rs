//! [`StandIns`]: while a thread records a program, the states that take the place of its arguments
//! (`program/README.md`).
#![allow(unsafe_code, reason = "refers to a table on the stack of the thread that records")]

use std::cell::Cell;
use std::collections::HashMap;
use std::ptr::{self, NonNull};

use super::shared::Shared;
use crate::graph::ArrayState;
use crate::sync::thread_local;

thread_local! {
    /// The table of the recording on this thread, if there is one.
    static CURRENT: Cell<*const StandIns> = const { Cell::new(ptr::null()) };
}

/// A state for each argument of a program.
#[derive(Debug, Default)]
pub(crate) struct StandIns {
    numbers: HashMap<*const ArrayState, usize>,
    states: Vec<Shared>,
    /// Whether the program is one of several ranks.
    is_over_ranks: bool,
}

/// Whether this thread records a program.
#[inline]
pub(crate) fn is_recording() -> bool {
    !CURRENT.with(Cell::get).is_null()
}

/// Whether this thread records a program of several ranks.
pub(crate) fn is_recording_over_ranks() -> bool {
    let current = CURRENT.with(Cell::get);
    // SAFETY: `meanwhile` keeps the table while it is the current one.
    !current.is_null() && unsafe { &*current }.is_over_ranks
}

/// The state in whose place tasks use `state`: itself, unless it is an argument of a program that is being recorded.
#[inline]
pub(super) fn of(state: &ArrayState) -> &ArrayState {
    let current = CURRENT.with(Cell::get);
    if current.is_null() { state } else { look_up(current, state) }
}

#[cold]
fn look_up(current: *const StandIns, state: &ArrayState) -> &ArrayState {
    // SAFETY: `meanwhile` keeps the table while it is the current one.
    let table = unsafe { &*current };
    match table.numbers.get(&ptr::from_ref(state)) {
        // SAFETY: the table owns the stand-in until the recording ends. What can keep the reference for longer are tasks
        // that are not submitted and parts that are read: if such are left, `program::record` never frees the table.
        Some(&number) => unsafe { NonNull::from(table.states[number].state()).as_ref() },
        None => state,
    }
}

impl StandIns {
    /// None yet.
    pub(crate) fn new(is_over_ranks: bool) -> Self {
        Self { is_over_ranks, ..Self::default() }
    }

    /// Lets `stand_in` take the place of the state at this address.
    pub(crate) fn add(&mut self, state: *const ArrayState, stand_in: Shared) {
        self.numbers.insert(state, self.states.len());
        self.states.push(stand_in);
    }

    /// The states that take the place of others, in the order in which they were added.
    pub(crate) fn states(&self) -> impl Iterator<Item = &ArrayState> {
        self.states.iter().map(Shared::state)
    }

    /// Calls `record` on this thread with this table.
    pub(crate) fn meanwhile<R>(&self, record: impl FnOnce() -> R) -> R {
        struct Restore(*const StandIns);
        impl Drop for Restore {
            fn drop(&mut self) {
                CURRENT.with(|current| current.set(self.0));
            }
        }
        let _restore = Restore(CURRENT.with(|current| current.replace(self)));
        record()
    }
}
