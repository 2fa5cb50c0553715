//! [`Apart`]: where the arrays of an instance are in main memory if they may be on a device, too.

use super::steps::{ArraySpec, Place};
use crate::memory::ALIGN_BYTES;

/// Places of arrays in main memory, none of which is shared.
pub(super) struct Apart {
    /// Of each array; 0 of one that is bound, or a part.
    pub(super) offsets: Vec<usize>,
    /// All bytes.
    pub(super) bytes: usize,
}

impl Apart {
    /// Of the arrays of an instance.
    pub(super) fn of(arrays: &[ArraySpec]) -> Self {
        let mut apart = Self { offsets: Vec::with_capacity(arrays.len()), bytes: 0 };
        for array in arrays {
            apart.offsets.push(apart.bytes);
            if matches!(array.place, Place::At(_)) {
                apart.bytes += array.bytes.next_multiple_of(ALIGN_BYTES);
            }
        }
        apart
    }
}
