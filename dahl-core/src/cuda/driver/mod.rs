//! CUDA devices as the runtime uses them: memory, streams, copies, modules. Only this module calls `libcuda.so.1`.
//!
//! `cuda/README.md` states the invariants D1 to D6 that comments here name.
//!
//! Not here: what tasks do with a device (`worker::cuda`), and which replicas an array has (`graph::replicas`).
#![allow(unsafe_code, reason = "calls functions of a library in C, on handles that this room keeps")]

mod allocation;
mod calls;
mod context;
mod device;
mod error;
mod event;
mod graphs;
mod host_fetch;
mod launch_batch;
mod launches;
mod library;
mod link;
mod modules;
mod nvtx;
mod pinned;
mod pool;
mod ptx;
mod stream;
mod timeline;

pub(crate) use allocation::{Allocation, Moved};
pub(crate) use device::{CudaDevice, DeviceSearch};
pub(crate) use error::CudaError;
pub(crate) use event::Event;
pub(crate) use host_fetch::HostFetch;
pub(crate) use launches::KernelParameters;
pub use modules::no_compiler;
pub(crate) use modules::{Function, Unloaded};
pub(crate) use nvtx::Names;
pub(crate) use pinned::Pinned;
