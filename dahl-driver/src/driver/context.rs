//! [`Context`]: a device's primary context, and how a thread enters it before a call.

use std::ptr;
use std::sync::Arc;

use cudarc::driver::sys::{CUcontext, CUdevice};

use super::calls;
use super::error::{CudaError, check};

/// The primary context of a device, which everything in this process shares.
///
/// # Invariant
/// X: `raw` is retained until this is dropped.
#[derive(Debug)]
pub(super) struct Context {
    device: CUdevice,
    raw: CUcontext,
}

// SAFETY: contexts of the driver may be used by any thread.
unsafe impl Send for Context {}
// SAFETY: as for `Send`.
unsafe impl Sync for Context {}

impl Context {
    pub(super) fn retain(device: CUdevice) -> Result<Arc<Self>, CudaError> {
        let mut raw = ptr::null_mut();
        // SAFETY: a device that the driver has named, and room for a context.
        check("cuDevicePrimaryCtxRetain", unsafe { calls::cuDevicePrimaryCtxRetain(&raw mut raw, device) })?;
        Ok(Arc::new(Self { device, raw }))
    }

    pub(super) fn device(&self) -> CUdevice {
        self.device
    }

    pub(super) fn raw(&self) -> CUcontext {
        self.raw
    }

    /// Makes this thread's calls go to the context until the value is dropped; then to the one before.
    pub(super) fn enter(&self) -> Result<Entered, CudaError> {
        let mut before = ptr::null_mut();
        // SAFETY: room for a context.
        check("cuCtxGetCurrent", unsafe { calls::cuCtxGetCurrent(&raw mut before) })?;
        if before != self.raw {
            // SAFETY: X.
            check("cuCtxSetCurrent", unsafe { calls::cuCtxSetCurrent(self.raw) })?;
        }
        Ok(Entered { before, changed: before != self.raw })
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: X; nobody uses it after this.
        unsafe { calls::cuDevicePrimaryCtxRelease_v2(self.device) };
    }
}

/// The current context of a thread, to be put back. It stays on its thread, since it holds a pointer.
#[derive(Debug)]
pub(super) struct Entered {
    before: CUcontext,
    changed: bool,
}

impl Drop for Entered {
    fn drop(&mut self) {
        // A thread that had none keeps this one: most often it is a worker's, which comes back at once.
        if self.changed && !self.before.is_null() {
            // SAFETY: it was this thread's current one before; if it has gone meanwhile, the call fails and no more.
            unsafe { calls::cuCtxSetCurrent(self.before) };
        }
    }
}
