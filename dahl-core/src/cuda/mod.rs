//! Kernels in CUDA as `dahl-build` and `#[codelet]` describe them: what they take, how they are launched, and the image
//! of device code that holds them.
//!
//! Data come from the tables that `dahl-build` writes and from the declarations of maps, as [`CudaKernel`]s, and
//! go to [`Codelet::cuda`](crate::Codelet::cuda). Not here: devices, streams, and running anything.

mod element;
mod image;
mod kernel;
mod launch;
mod mismatch;
mod step;

pub use element::{CudaArgument, CudaElement, CudaTypeParameter, CudaView};
pub use image::CudaImage;
pub use kernel::{CudaInstance, CudaKernel, CudaPass};
pub use launch::{CudaLaunch, CudaLaunches};
pub use mismatch::Declared;
pub use step::CudaStep;
