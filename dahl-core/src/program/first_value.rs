//! [`give_first_value`]: what an array of a program begins each replay with.
#![allow(unsafe_code, reason = "writes an array that the caller has exclusive access to")]

use std::panic::Location;
use std::ptr;

use crate::access::AccessMode;
use crate::device::Requester;
use crate::graph::ArrayState;
use crate::memory::HOME;

/// Gives an array its first value in main memory: these bytes, or zeros.
///
/// # Safety
/// The caller has exclusive access to it.
pub(super) unsafe fn give_first_value(state: &ArrayState, initial: Option<&[u8]>) {
    let requester = Requester { name: "program", location: Location::caller() };
    let Some(initial) = initial else {
        // SAFETY: guaranteed by the caller.
        return unsafe { state.forget_value(requester) };
    };
    // SAFETY: guaranteed by the caller.
    match unsafe { state.prepare_at(HOME, AccessMode::W, requester) } {
        // SAFETY: as above; the array has as many bytes.
        Ok(pointer) => unsafe { ptr::copy_nonoverlapping(initial.as_ptr(), pointer, initial.len()) },
        // SAFETY: as above.
        Err(missing) => unsafe { state.poison(&missing.into_failure(state, requester)) },
    }
}
