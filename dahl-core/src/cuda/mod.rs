//! Kernels in CUDA as `dahl-build` and `#[codelet]` describe them: what they take, how they are launched, and the image
//! of device code that holds them; and `driver`, the devices that run them, behind the feature `cuda`.
//!
//! Data come from the tables that `dahl-build` writes and from the declarations of maps, as [`CudaKernel`]s, and
//! go to [`Codelet::cuda`](crate::Codelet::cuda). Not here: tasks on a device (`worker::cuda`).

#[cfg(not(feature = "cuda"))]
mod absent;
#[cfg(feature = "cuda")]
mod driver;
mod element;
mod fold;
mod image;
mod kernel;
mod launch;
mod mismatch;
mod step;

#[cfg(not(feature = "cuda"))]
pub(crate) use absent::{Allocation, CudaDevice, CudaError, Found, Landing, Mark, Moved};
#[cfg(feature = "cuda")]
pub(crate) use driver::{
    Allocation, CudaDevice, CudaError, Found, Function, Landing, Mark, Moved, Names, Pinned, Unloaded,
};
pub use element::{CudaArgument, CudaElement, CudaTypeParameter, CudaView};
pub(crate) use fold::{finish, fold};
pub use image::CudaImage;
pub use kernel::{CudaInstance, CudaKernel, CudaPass};
pub use launch::{CudaLaunch, CudaLaunches};
pub use mismatch::Declared;
pub use step::CudaStep;
