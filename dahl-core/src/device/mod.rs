//! [`Machine`]: a machine to be simulated, its devices, and how long things take on it; and the devices of a runtime,
//! simulated or real, with their memories.
//!
//! A *virtual device* is a worker with a memory node of its own. Its kernels really run, on this machine's CPU and in
//! the device's own buffers, so values, copies and coherence are real; only durations are the model's.
//!
//! Not here: the events of a simulated run (`simulation`), what a real device does (`cuda`), and where arrays have copies (`array::copies`).

mod links;
mod machine;
mod memory;
mod real;
mod room;
mod speed;

pub(crate) use links::Devices;
pub use links::{Transfer, TransferTotal};
pub use machine::{Cpu, Machine, VirtualDevice};
pub(crate) use memory::DeviceMemory;
pub(crate) use real::{CudaSetting, worker_name};
pub(crate) use room::Room;
pub use speed::{CodeletSpeed, Speed};
