//! The driver: a device with its memory, streams, copies and modules. Only this room calls `libcuda.so.1`, which is loaded when
//! devices are looked for.
//!
//! Not here: the libraries that give work to a device's stream themselves (`libraries`).
#![allow(unsafe_code, reason = "calls functions of a library in C, on handles that this room keeps")]

mod allocation;
mod calls;
mod conditional;
mod context;
mod device;
mod error;
mod event;
mod graph_counts;
mod host_fetch;
mod launches;
mod library;
mod link;
mod modules;
mod nvtx;
mod pinned;
mod pool;
mod program_graph;
mod properties;
mod ptx;
mod queue;
mod stream;
mod timeline;

pub use allocation::{Allocation, Moved};
pub use conditional::{Condition, Handle, Repeats};
pub use device::{CudaDevice, DeviceSearch};
pub use error::CudaError;
pub use event::Event;
pub use graph_counts::GraphCounts;
pub use host_fetch::HostFetch;
pub use launches::{KernelParameters, LaunchConfig};
pub use modules::{Function, Unloaded, no_compiler};
pub use nvtx::{Names, Range};
pub use pinned::Pinned;
pub use program_graph::{Captured, ProgramGraph};
pub use queue::Queue;
pub use timeline::Now;
