//! [`FirstValue`]: what an array of a program begins with.
#![allow(unsafe_code, reason = "writes an array that the caller has exclusive access to")]

use std::panic::Location;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use crate::access::AccessMode;
use crate::device::Requester;
use crate::graph::ArrayState;
use crate::memory::HOME;

/// The first value of an array of an instance.
#[derive(Debug)]
pub(super) struct FirstValue {
    state: NonNull<ArrayState>,
    /// Its bytes; none for zeros.
    initial: Option<Arc<[u8]>>,
}

impl FirstValue {
    /// That of an array of so many bytes.
    ///
    /// # Panics
    /// If the value has another number of bytes.
    pub(super) fn new(state: NonNull<ArrayState>, initial: Option<&Arc<[u8]>>, bytes: usize) -> Self {
        assert!(initial.is_none_or(|initial| initial.len() == bytes), "a value has the bytes of its array");
        Self { state, initial: initial.cloned() }
    }

    /// Gives the array this value, in main memory.
    ///
    /// # Safety
    /// The array exists, and the caller has exclusive access to it.
    pub(super) unsafe fn give(&self) {
        // SAFETY: guaranteed by the caller.
        let state = unsafe { self.state.as_ref() };
        let requester = Requester { name: "program", location: Location::caller() };
        let Some(initial) = &self.initial else {
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
}
