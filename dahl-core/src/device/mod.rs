//! The devices of a runtime, simulated or real, their memories, and the links for transfers.
//!
//! A *virtual device* is a worker with a memory node of its own. Its kernels really run, on this machine's CPU and in
//! the device's own buffers, so values, copies and coherence are real. Only the durations come from a model.
//!
//! Not here: the description of a machine (`machine`), the events of a simulated run (`simulation`), what a real device
//! does (`cuda`), and where arrays have replicas (`graph::replicas`).

mod demand;
mod fetch_error;
mod links;
mod memory;
mod real;
mod register;
mod room;

pub(crate) use demand::demand_bytes;
pub(crate) use fetch_error::{FetchError, Requester};
pub(crate) use links::Devices;
pub(crate) use memory::DeviceMemory;
pub(crate) use real::CudaSetting;
pub(crate) use register::{Evictable, Rank};
pub(crate) use room::Room;

pub use crate::machine::{CodeletSpeed, Cpu, Machine, Speed, Transfer, TransferTotal, VirtualDevice};
