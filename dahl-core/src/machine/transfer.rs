//! [`Transfer`]: a copy from one memory node to another.

use crate::array_id::ArrayId;

/// A copy of elements from one memory node to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Transfer {
    /// The id of the array, or of the part.
    pub array: ArrayId,
    /// The source; 0 is the main memory, and device `i` has node `i + 1`.
    pub from: usize,
    /// The destination.
    pub to: usize,
    /// The number of bytes.
    pub bytes: usize,
}

/// The transfers from one memory node to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TransferTotal {
    /// The source; 0 is the main memory, and device `i` has node `i + 1`.
    pub from: usize,
    /// The destination.
    pub to: usize,
    /// The number of transfers.
    pub count: u64,
    /// The number of bytes.
    pub bytes: u64,
    /// Their total duration, in nanoseconds: from the start of each transfer to its end.
    pub time_ns: u64,
}
