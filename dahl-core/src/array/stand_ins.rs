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
    states: HashMap<*const ArrayState, Shared>,
}

/// Whether this thread records a program.
#[inline]
pub(crate) fn is_recording() -> bool {
    !CURRENT.with(Cell::get).is_null()
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
    // SAFETY: the table owns the stand-in until the recording ends. The program is a function that is generic over the
    // lifetimes of its arguments, so no reference that it derives from one is left then.
    table
        .states
        .get(&ptr::from_ref(state))
        .map_or(state, |stand_in| unsafe { NonNull::from(stand_in.state()).as_ref() })
}

impl StandIns {
    /// Lets `stand_in` take the place of `state`. False if there is another one already.
    pub(crate) fn add(&mut self, state: NonNull<ArrayState>, stand_in: Shared) -> bool {
        self.states.insert(state.as_ptr().cast_const(), stand_in).is_none()
    }

    /// The state in whose place tasks use `state`.
    pub(crate) fn stand_in(&self, state: NonNull<ArrayState>) -> Option<&ArrayState> {
        self.states.get(&state.as_ptr().cast_const()).map(Shared::state)
    }

    /// Calls `record` on this thread with this table.
    ///
    /// # Safety
    /// `record` keeps no reference to the state of an argument.
    pub(crate) unsafe fn meanwhile<R>(&self, record: impl FnOnce() -> R) -> R {
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
