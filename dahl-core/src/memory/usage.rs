//! [`MemoryUse`]: the figures of a memory node.

use std::fmt;
use std::panic::Location;

/// How much of a memory node is in use, and by whom. See [`Runtime::memory`](crate::Runtime::memory).
///
/// What the process holds beside it (its code, records of tasks, what kernels allocate themselves) is not counted.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MemoryUse {
    /// The node: `host`, or the name of a device.
    pub name: String,
    /// Bytes of arrays: of those that are alive, and of those that are dropped but used by tasks in flight.
    pub current_bytes: usize,
    /// The most bytes that were reserved at once.
    pub peak_bytes: usize,
    /// Bytes taken from the system: of arrays, of what arenas and workers keep to use anew.
    pub reserved_bytes: usize,
    /// The most bytes that may be reserved, if there is a limit.
    pub limit_bytes: Option<usize>,
    /// In main memory, bytes of what the runtime has learned of tasks: performance models, kernel choices, call logs. They are
    /// bounded, however many shapes there are, and not part of what is reserved or limited.
    pub learned_bytes: usize,
    /// Who reserved them, the largest first.
    pub holders: Vec<MemoryHolder>,
}

/// Everything that one line of the program reserved for one purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryHolder {
    /// What it is for: `arena`, `array`, `reduction buffers`, `rename buffer`, `scratch`, `packed copies`; on CUDA
    /// devices also `workspace`, `workspace of cuBLAS`.
    pub what: &'static str,
    /// The line that made the arena or array, or submitted the task that first needed the buffer.
    pub location: &'static Location<'static>,
    /// How much it is now.
    pub bytes: usize,
}

/// What the arenas of one line of the program hold, and held.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ArenaUse {
    /// The line that made them.
    pub(crate) location: &'static Location<'static>,
    /// How many it made.
    pub(crate) made: u64,
    /// Bytes of arrays in those that are there.
    pub(crate) current_bytes: usize,
    /// Bytes that those hold which are there.
    pub(crate) reserved_bytes: usize,
    /// The most bytes that one of them held at once, be it gone.
    pub(crate) peak_bytes: usize,
}

impl ArenaUse {
    pub(super) fn none(location: &'static Location<'static>) -> Self {
        Self { location, made: 0, current_bytes: 0, reserved_bytes: 0, peak_bytes: 0 }
    }
}

impl fmt::Display for MemoryHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, location, bytes } = self;
        write!(f, "{what} of {location} with {bytes}")
    }
}
