//! [`CudaError`]: what a call of the driver came to, if it failed.

use std::ffi::CStr;
use std::fmt;

use cudarc::driver::sys::{self, CUresult};

/// A call of the driver that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CudaError {
    call: &'static str,
    code: CUresult,
}

/// The result of a call as one of Rust's.
pub(super) fn check(call: &'static str, code: CUresult) -> Result<(), CudaError> {
    if code == CUresult::CUDA_SUCCESS { Ok(()) } else { Err(CudaError { call, code }) }
}

impl CudaError {
    /// Whether the driver has no memory.
    pub(crate) fn is_out_of_memory(&self) -> bool {
        self.code == CUresult::CUDA_ERROR_OUT_OF_MEMORY
    }

    /// Whether what was asked for has not happened yet.
    pub(super) fn is_not_ready(&self) -> bool {
        self.code == CUresult::CUDA_ERROR_NOT_READY
    }

    /// Whether the device is of no use any more: everything but what is wrong with one call alone.
    pub(crate) fn is_loss(&self) -> bool {
        !matches!(
            self.code,
            CUresult::CUDA_ERROR_INVALID_VALUE
                | CUresult::CUDA_ERROR_OUT_OF_MEMORY
                | CUresult::CUDA_ERROR_INVALID_IMAGE
                | CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU
                | CUresult::CUDA_ERROR_INVALID_PTX
                | CUresult::CUDA_ERROR_JIT_COMPILER_NOT_FOUND
                | CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION
                | CUresult::CUDA_ERROR_JIT_COMPILATION_DISABLED
                | CUresult::CUDA_ERROR_INVALID_SOURCE
                | CUresult::CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND
                | CUresult::CUDA_ERROR_SHARED_OBJECT_INIT_FAILED
                | CUresult::CUDA_ERROR_NOT_FOUND
                | CUresult::CUDA_ERROR_NOT_READY
                | CUresult::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES
                | CUresult::CUDA_ERROR_PEER_ACCESS_UNSUPPORTED
                | CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED
                | CUresult::CUDA_ERROR_NOT_PERMITTED
                | CUresult::CUDA_ERROR_NOT_SUPPORTED
        )
    }
}

impl fmt::Display for CudaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = std::ptr::null();
        // SAFETY: there is room for a pointer.
        let known = check("cuGetErrorString", unsafe { sys::cuGetErrorString(self.code, &raw mut text) });
        if known.is_err() || text.is_null() {
            return write!(f, "{}: {:?}", self.call, self.code);
        }
        // SAFETY: the driver gives a text that ends in zero and is never freed.
        let text = unsafe { CStr::from_ptr(text) };
        write!(f, "{}: {} ({:?})", self.call, text.to_string_lossy(), self.code)
    }
}
