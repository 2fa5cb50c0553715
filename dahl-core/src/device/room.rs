//! [`Room`]: the memory of a replica.

use crate::cuda::Allocation;
use crate::memory::Block;

/// Memory of a device that a replica lies in.
#[derive(Debug)]
pub(crate) enum Room {
    /// Of a simulated device: the host's.
    Host(Block),
    /// Of a CUDA device, which the host cannot reach.
    Cuda(Allocation),
}

impl Room {
    /// What kernels of the device are given.
    pub(crate) fn pointer(&self) -> *mut u8 {
        match self {
            Self::Host(block) => block.pointer(),
            Self::Cuda(allocation) => allocation.pointer(),
        }
    }
}
