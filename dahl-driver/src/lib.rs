//! CUDA devices, below a runtime: what `dahl-core` calls of NVIDIA's libraries, none of which need be installed.
//!
//! `driver` calls `libcuda.so.1`: devices with their memory, streams, copies and modules. `libraries` calls cuBLAS and cuDNN.
//! `README.md` states the invariants D1 to D6 that comments here name, `GRAPHS.md` describes graphs of launches.
//!
//! This crate knows neither tasks nor arrays: it is given bytes, device code, and the time. Not here: what tasks do with a
//! device (`worker::cuda` of `dahl-core`), and which replicas an array has (`graph::replicas` there).
//!
//! `dahl-core` alone is meant to use it: it changes without notice.

mod driver;
mod libraries;

pub use driver::{
    Allocation, Captured, Condition, CudaDevice, CudaError, DeviceSearch, Event, Function, GraphCounts,
    Handle, HostFetch, KernelParameters, LaunchConfig, Moved, Names, Now, Pinned, ProgramGraph, Queue, Range,
    Repeats, Unloaded, no_compiler,
};
pub use libraries::{Cublas, Cudnn};
