//! The condition of a branch or of a loop: an array of one element.
#![allow(unsafe_code, reason = "reads an element of an array that the caller has access to")]

use super::region::Flow;
use super::state::ArrayState;
use crate::access::AccessMode;
use crate::device::{FetchError, Requester};
use crate::memory::HOME;

impl ArrayState {
    /// Whether the array's only element is a condition that holds. Waits until it is in main memory.
    ///
    /// # Errors
    /// If it has no value, or cannot be made available.
    ///
    /// # Panics
    /// If it has another number of elements.
    ///
    /// # Safety
    /// The caller holds an access, and nobody else changes the elements meanwhile.
    pub(crate) unsafe fn holds(&self, flow: Flow, requester: Requester) -> Result<bool, FetchError> {
        let fixed = self.fixed();
        let element = fixed.element.expect("a state in use has an element type");
        assert_eq!(fixed.bytes, element.size_bytes, "a condition has one element");
        // SAFETY: guaranteed by the caller.
        let pointer = unsafe { self.prepare_at(HOME, AccessMode::R, requester) }?;
        let start = pointer.wrapping_add(fixed.part.map_or(0, |layout| layout.offset) * element.size_bytes);
        // SAFETY:
        // - the buffer spans the array's elements from the offset of its layout on, initialised: `prepare_at`.
        // - no task writes them: guaranteed by the caller.
        Ok((flow.holds)(unsafe { std::slice::from_raw_parts(start, element.size_bytes) }))
    }
}
