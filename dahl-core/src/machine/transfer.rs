//! [`Transfer`]: a copy from one memory node to another.

use crate::array_id::ArrayId;

/// Elements that were copied from one memory node to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Transfer {
    /// The number of the array, or of the part.
    pub array: ArrayId,
    /// The memory node that they came from; 0 is the main memory, and device `i` has node `i + 1`.
    pub from: usize,
    /// The memory node that they went to.
    pub to: usize,
    /// How many bytes.
    pub bytes: usize,
}

/// What went from one memory node to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TransferTotal {
    /// The memory node that it came from; 0 is the main memory, and device `i` has node `i + 1`.
    pub from: usize,
    /// The memory node that it went to.
    pub to: usize,
    /// How many transfers.
    pub count: u64,
    /// How many bytes.
    pub bytes: u64,
    /// How long they were on their way, in nanoseconds: from the begin of each transfer to its end.
    pub time_ns: u64,
}
