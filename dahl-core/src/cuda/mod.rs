//! Kernels in CUDA as `dahl-build` and `#[codelet]` describe them: their parameters, their launches, and the image of
//! device code that contains them. `call` is the interface of kernels that call libraries. Behind the feature `cuda`, the
//! crate `dahl-driver` has the devices that run all of these, and the libraries; else `absent` is in its place.
//!
//! [`CudaKernel`]s come from the tables that `dahl-build` writes and from the declarations of maps, and go to
//! [`Codelet::cuda`](crate::Codelet::cuda). Not here: device code itself, and what libraries are told (`dahl-cuda`); tasks on a
//! device (`worker::cuda`).

#[cfg(not(feature = "cuda"))]
mod absent;
mod call;
mod element;
mod fold;
mod kernel;
mod launch;
mod mismatch;
mod step;

#[cfg(not(feature = "cuda"))]
pub use absent::no_compiler;
#[cfg(not(feature = "cuda"))]
pub(crate) use absent::{
    Allocation, CudaDevice, CudaError, DeviceSearch, Event, GraphCounts, HostFetch, Moved, Now,
};
pub use call::CudaCall;
pub(crate) use call::CudaEntry;
#[cfg(all(feature = "cuda", not(dahl_fuzz)))]
pub(crate) use call::Lender;
#[cfg(all(feature = "cuda", not(dahl_fuzz)))]
pub(crate) use dahl_cuda::call::{Convolution, Gemm};
#[doc(inline)]
pub use dahl_cuda::call::{CudaArray, CudaArrayMut, CudaCallError, CudaLibrary};
#[doc(inline)]
pub use dahl_cuda::{CudaImage, CudaProgram, CudaTexts};
#[cfg(feature = "cuda")]
#[doc(inline)]
pub use dahl_driver::no_compiler;
#[cfg(all(feature = "cuda", not(dahl_fuzz)))]
pub(crate) use dahl_driver::{
    Captured, Condition, Cudnn, Function, Handle, KernelParameters, LaunchConfig, Names, Pinned,
    ProgramGraph, Queue, Repeats, Unloaded,
};
#[cfg(feature = "cuda")]
pub(crate) use dahl_driver::{
    CudaDevice, CudaError, DeviceSearch, Event, GraphCounts, HostFetch, Moved, Now,
};
#[cfg(all(feature = "cuda", not(dahl_fuzz)))]
pub(crate) use element::MAX_ITEMS;
pub use element::{CudaArgument, CudaElement, CudaLen, CudaTypeParameter, CudaView};
pub(crate) use fold::{finish, fold};
pub(crate) use kernel::views_of;
pub use kernel::{CudaInstance, CudaKernel, CudaPass, pass_of_map, views_of_map};
pub use launch::{CudaLaunch, CudaLaunches};
pub use mismatch::Declared;
pub use step::CudaStep;

/// Memory of a device, which counts as reserved until it is free.
#[cfg(feature = "cuda")]
pub(crate) type Allocation = dahl_driver::Allocation<crate::memory::Reservation>;
/// cuBLAS on one device; its workspace counts as reserved.
#[cfg(all(feature = "cuda", not(dahl_fuzz)))]
pub(crate) type Cublas = dahl_driver::Cublas<crate::memory::Reservation>;
