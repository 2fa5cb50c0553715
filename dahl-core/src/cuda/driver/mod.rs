//! Devices of CUDA, as the runtime uses them: memory, streams, copies, modules. The only calls of `libcuda.so.1`.
//!
//! `README.md`, beside the room `cuda`, has the invariants D1 to D6 that are named here.
//!
//! Not here: what tasks do with a device (`worker::cuda`), and which copies an array has (`array::copies`).
#![allow(unsafe_code, reason = "calls functions of a library in C, on handles that this room keeps")]

mod allocation;
mod calls;
mod collected;
mod context;
mod device;
mod error;
mod graphs;
mod landing;
mod launches;
mod library;
mod link;
mod mark;
mod modules;
mod nvtx;
mod pinned;
mod pool;
mod ptx;
mod stream;
mod timeline;

pub(crate) use allocation::{Allocation, Moved};
pub(crate) use device::{CudaDevice, Found};
pub(crate) use error::CudaError;
pub(crate) use landing::Landing;
pub(crate) use launches::KernelParameters;
pub(crate) use mark::Mark;
pub use modules::no_compiler;
pub(crate) use modules::{Function, Unloaded};
pub(crate) use nvtx::Names;
pub(crate) use pinned::Pinned;
