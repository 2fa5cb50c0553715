//! CUDA libraries that kernels call. Each is loaded when a kernel first needs it. Only this module calls them.
//!
//! `dahl-core/src/cuda/LIBRARIES.md` says what dahl requires of a library. `dahl_cuda::call` says what one is told; the
//! handles belong to the worker of a device.
#![allow(unsafe_code, reason = "calls functions of a library in C, on handles that this room keeps")]

mod cublas;
mod cudnn;
mod search;
mod status;

pub use cublas::Cublas;
pub use cudnn::Cudnn;
use dahl_cuda::call::CudaLibrary;

/// Whether a library is there.
pub(super) fn is_there(library: CudaLibrary) -> bool {
    match library {
        CudaLibrary::Cublas => cublas::functions().is_ok(),
        CudaLibrary::Cudnn => cudnn::functions().is_ok(),
        _ => false, // none that this room calls
    }
}
