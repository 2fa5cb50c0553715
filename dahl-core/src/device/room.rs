//! [`Room`]: the memory of a replica.

use crate::cuda::Allocation;
use crate::memory::Block;

/// Device memory for a replica.
#[derive(Debug)]
pub(crate) enum Room {
    /// That of a simulated device: the host's memory.
    Host(Block),
    /// That of a CUDA device, which the host cannot access.
    Cuda(Allocation),
}

impl Room {
    /// The address that kernels of the device receive.
    pub(crate) fn pointer(&self) -> *mut u8 {
        match self {
            Self::Host(block) => block.pointer(),
            Self::Cuda(allocation) => allocation.pointer(),
        }
    }
}
