//! [`MemoryUse`]: the figures of a memory node.

use std::fmt;
use std::panic::Location;

/// The memory use of a memory node, and its holders. See [`Runtime::memory`](crate::Runtime::memory).
///
/// What the process holds beside it (its code, records of tasks, what kernels allocate themselves) is not counted.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MemoryUse {
    /// The node: `host`, or the name of a device.
    pub name: String,
    /// Bytes of arrays: of live ones, and of dropped ones that tasks in flight use.
    pub current_bytes: usize,
    /// The peak of the reserved bytes.
    pub peak_bytes: usize,
    /// Bytes taken from the system: for arrays, and those that arenas and workers keep for reuse.
    pub reserved_bytes: usize,
    /// The limit of reserved bytes, if there is one.
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
    /// The purpose: `arena`, `array`, `reduction buffers`, `rename buffer`, `scratch`, `packed copies`; on CUDA devices
    /// also `workspace`, `workspace of cuBLAS`.
    pub what: &'static str,
    /// The line that created the arena or array, or submitted the task that first needed the buffer.
    pub location: &'static Location<'static>,
    /// The bytes now.
    pub bytes: usize,
}

/// The memory use, now and before, of the arenas of one line of the program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ArenaUse {
    /// The line that created them.
    pub(crate) location: &'static Location<'static>,
    /// The number of arenas created.
    pub(crate) made: u64,
    /// Bytes of arrays in those that exist.
    pub(crate) current_bytes: usize,
    /// Reserved bytes of those that exist.
    pub(crate) reserved_bytes: usize,
    /// The peak of any of them, including dropped ones.
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
