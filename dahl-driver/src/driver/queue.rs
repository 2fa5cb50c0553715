//! [`Queue`]: where libraries put their work: into the compute stream, or into a graph that is being captured.

use std::ffi::c_void;
use std::ptr::NonNull;

use dahl_cuda::call::CudaCallError;

use super::device::CudaDevice;
use super::error::CudaError;
use super::program_graph::Captured;
use super::stream::{CAPTURE, COMPUTE};

/// Where a library puts its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queue {
    /// Into the compute stream.
    Compute,
    /// Into a graph that is being captured.
    Capture,
}

impl Queue {
    fn stream(self) -> usize {
        match self {
            Self::Compute => COMPUTE,
            Self::Capture => CAPTURE,
        }
    }
}

impl CudaDevice {
    /// The stream of a queue, a `CUstream`, to give it work.
    pub fn queue(&self, queue: Queue) -> NonNull<c_void> {
        NonNull::new(self.stream(queue.stream()).raw().cast())
            .expect("streams that were created are not the default one")
    }

    /// Calls a library, with the device's context current; it is given the stream of a queue.
    pub(crate) fn in_context<R>(
        &self,
        queue: Queue,
        call: impl FnOnce(NonNull<c_void>) -> Result<R, CudaCallError>,
    ) -> Result<R, CudaCallError> {
        let failed = |error: CudaError| CudaCallError::Failed(error.to_string());
        let _entered = self.enter().map_err(failed)?;
        call(self.queue(queue))
    }

    /// Captures what `call` lets libraries put into [`Queue::Capture`]. One thread does so: the device's worker.
    ///
    /// # Errors
    /// If the driver refuses, or the work cannot be captured. What `call` returns is then without effect.
    pub fn capture<R>(&self, call: impl FnOnce() -> R) -> Result<(R, Captured), CudaError> {
        let stream = self.stream(CAPTURE);
        stream.begin_capture()?;
        let result = call();
        Ok((result, Captured::new(stream.end_capture()?, self.context())))
    }
}
