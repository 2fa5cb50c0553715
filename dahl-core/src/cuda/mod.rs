//! Kernels in CUDA as `dahl-build` and `#[codelet]` describe them: their parameters, their launches, and the image of
//! device code that contains them. `call` is the interface of kernels that call libraries. Behind the feature `cuda`,
//! `driver` has the devices that run all of these, and `libraries` the libraries.
//!
//! [`CudaKernel`]s come from the tables that `dahl-build` writes and from the declarations of maps, and go to
//! [`Codelet::cuda`](crate::Codelet::cuda). Not here: tasks on a device (`worker::cuda`).

#[cfg(not(feature = "cuda"))]
mod absent;
mod call;
#[cfg(feature = "cuda")]
mod driver;
mod element;
mod fold;
mod graph_counts;
mod image;
mod kernel;
mod launch;
#[cfg(feature = "cuda")]
mod libraries;
mod mismatch;
mod program;
mod step;

#[cfg(not(feature = "cuda"))]
pub use absent::no_compiler;
#[cfg(not(feature = "cuda"))]
pub(crate) use absent::{Allocation, CudaDevice, CudaError, DeviceSearch, Event, HostFetch, Moved};
pub(crate) use call::CudaEntry;
#[cfg(feature = "cuda")]
pub(crate) use call::{Convolution, Gemm, Lender};
pub use call::{CudaArray, CudaArrayMut, CudaCall, CudaCallError, CudaLibrary};
#[cfg(feature = "cuda")]
pub use driver::no_compiler;
#[cfg(feature = "cuda")]
pub(crate) use driver::{
    Allocation, CudaDevice, CudaError, DeviceSearch, Event, Function, HostFetch, KernelParameters, Moved,
    Names, Pinned, Unloaded,
};
pub use element::{CudaArgument, CudaElement, CudaTypeParameter, CudaView};
pub(crate) use fold::{finish, fold};
pub(crate) use graph_counts::GraphCounts;
pub use image::CudaImage;
pub use kernel::{CudaInstance, CudaKernel, CudaPass};
pub use launch::{CudaLaunch, CudaLaunches};
#[cfg(feature = "cuda")]
pub(crate) use libraries::{Cublas, Cudnn};
pub use mismatch::Declared;
pub use program::{CudaProgram, CudaTexts};
pub use step::CudaStep;
