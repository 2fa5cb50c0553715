//! [`CudaSetting`]: a CUDA device as a runtime uses it.

use std::sync::Arc;

use crate::cuda::CudaDevice;
use crate::machine::VirtualDevice;

/// A CUDA device that was found, and how much of its memory may be used.
#[derive(Debug)]
pub(crate) struct CudaSetting {
    pub(crate) device: Arc<CudaDevice>,
    pub(crate) limit_bytes: usize,
}

impl CudaSetting {
    /// Its model for schedulers: its name and its link.
    pub(super) fn model(&self) -> VirtualDevice {
        let (latency_us, gbytes_per_s) = self.device.link();
        VirtualDevice::new(self.device.name()).link(latency_us, gbytes_per_s)
    }
}
