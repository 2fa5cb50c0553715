//! [`Apart`]: where the arrays of an instance are in main memory if they may be on a device, too.

use crate::memory::ALIGN_BYTES;

/// Places of arrays in main memory, none of which is shared.
pub(super) struct Apart {
    /// Of each array; 0 of one that is bound, or a part.
    pub(super) offsets: Vec<usize>,
    /// All bytes.
    pub(super) bytes: usize,
}

impl Apart {
    /// Of arrays with so many bytes; 0 of one that has no place of its own.
    pub(super) fn of(arrays: impl Iterator<Item = usize>) -> Self {
        let mut apart = Self { offsets: Vec::new(), bytes: 0 };
        for bytes in arrays {
            apart.offsets.push(apart.bytes);
            apart.bytes += bytes.next_multiple_of(ALIGN_BYTES);
        }
        apart
    }
}
