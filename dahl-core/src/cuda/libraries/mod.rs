//! Libraries of CUDA's that kernels call, each loaded when it is first asked for, where it is: the only calls of them.
//!
//! `cuda/LIBRARIES.md` says what is asked of a library. Data come from [`CudaCall`](super::CudaCall); handles belong to the
//! worker of a device.
#![allow(unsafe_code, reason = "calls functions of a library in C, on handles that this room keeps")]

mod cublas;
mod cudnn;
mod search;
mod status;

pub(crate) use cublas::Cublas;
pub(crate) use cudnn::Cudnn;

use super::CudaLibrary;

/// Whether a library is there.
pub(super) fn is_there(library: CudaLibrary) -> bool {
    match library {
        CudaLibrary::Cublas => cublas::functions().is_ok(),
        CudaLibrary::Cudnn => cudnn::functions().is_ok(),
    }
}
