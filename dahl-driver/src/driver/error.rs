//! [`CudaError`]: a driver call that failed.

use std::borrow::Cow;
use std::ffi::{CStr, c_char};
use std::fmt;

use cudarc::driver::sys::CUresult;

use super::calls;

/// What a call of the driver returns: a number, which may be one that `cuda.h` did not have when dahl was built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(super) struct Code(u32);

/// What is wrong with one call alone. After any other code, one that is not known included, the device is not used any more.
const SURVIVED: [CUresult; 28] = [
    CUresult::CUDA_ERROR_INVALID_VALUE,
    CUresult::CUDA_ERROR_OUT_OF_MEMORY,
    CUresult::CUDA_ERROR_INVALID_IMAGE,
    CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU,
    CUresult::CUDA_ERROR_INVALID_PTX,
    CUresult::CUDA_ERROR_JIT_COMPILER_NOT_FOUND,
    CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
    CUresult::CUDA_ERROR_JIT_COMPILATION_DISABLED,
    CUresult::CUDA_ERROR_INVALID_SOURCE,
    CUresult::CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND,
    CUresult::CUDA_ERROR_SHARED_OBJECT_INIT_FAILED,
    CUresult::CUDA_ERROR_NOT_FOUND,
    CUresult::CUDA_ERROR_NOT_READY,
    CUresult::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
    CUresult::CUDA_ERROR_PEER_ACCESS_UNSUPPORTED,
    CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED,
    CUresult::CUDA_ERROR_NOT_PERMITTED,
    CUresult::CUDA_ERROR_NOT_SUPPORTED,
    CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
    CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
    CUresult::CUDA_ERROR_STREAM_CAPTURE_MERGE,
    CUresult::CUDA_ERROR_STREAM_CAPTURE_UNMATCHED,
    CUresult::CUDA_ERROR_STREAM_CAPTURE_UNJOINED,
    CUresult::CUDA_ERROR_STREAM_CAPTURE_ISOLATION,
    CUresult::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
    CUresult::CUDA_ERROR_CAPTURED_EVENT,
    CUresult::CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD,
    CUresult::CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE,
];

/// A call of the driver that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CudaError {
    call: &'static str,
    code: Code,
    /// Whether more than the call is lost, whatever the code says.
    lost: bool,
}

/// The result of a call as one of Rust's.
pub(super) fn check(call: &'static str, code: Code) -> Result<(), CudaError> {
    if code.is(CUresult::CUDA_SUCCESS) { Ok(()) } else { Err(CudaError { call, code, lost: false }) }
}

impl Code {
    fn is(self, known: CUresult) -> bool {
        self.0 == known as u32
    }

    /// A text that the driver has for it.
    fn text(self, of_code: unsafe fn(Self, *mut *const c_char) -> Self) -> Option<Cow<'static, str>> {
        let mut text = std::ptr::null();
        // SAFETY: there is room for a pointer.
        let result = unsafe { of_code(self, &raw mut text) };
        if !result.is(CUresult::CUDA_SUCCESS) || text.is_null() {
            return None;
        }
        // SAFETY: the driver gives a text that ends in zero and is never freed.
        Some(unsafe { CStr::from_ptr(text) }.to_string_lossy())
    }
}

impl CudaError {
    /// Whether the driver has no memory.
    pub fn is_out_of_memory(&self) -> bool {
        self.code.is(CUresult::CUDA_ERROR_OUT_OF_MEMORY)
    }

    /// Whether what was asked for has not happened yet.
    pub(super) fn is_not_ready(&self) -> bool {
        self.code.is(CUresult::CUDA_ERROR_NOT_READY)
    }

    /// Whether the device is of no use any more: everything but what is wrong with one call alone.
    pub fn is_loss(&self) -> bool {
        self.lost || !SURVIVED.iter().any(|&known| self.code.is(known))
    }

    /// The same of a call that others have been told would succeed: the device cannot be used any more.
    pub(super) fn as_loss(self) -> Self {
        Self { lost: true, ..self }
    }
}

impl fmt::Display for CudaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, text) = (self.code.text(calls::cuGetErrorName), self.code.text(calls::cuGetErrorString));
        match (name, text) {
            (Some(name), Some(text)) => write!(f, "{}: {text} ({name})", self.call),
            _ => write!(f, "{}: error {}, which this driver has no text for", self.call, self.code.0),
        }
    }
}
