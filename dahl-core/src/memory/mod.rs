//! Memory: nodes with their limits, blocks from the allocator, regions from which arenas allocate arrays, and slabs of
//! recycled records.
//!
//! Not here: the meaning of an array's bytes (`array`), and who may touch them when (`task`).
#![allow(unsafe_code, reason = "raw allocations; each block states who keeps them valid")]

mod arena;
mod block;
mod buffer;
mod holder;
mod huge_pages;
mod lines;
mod node;
mod pages;
mod references;
mod region;
mod reservation;
mod shortage;
mod slab;
#[cfg(test)]
mod slab_tests;
mod usage;

pub(crate) use arena::ArenaShared;
pub(crate) use block::{Block, block_bytes};
pub(crate) use buffer::Buffer;
pub(crate) use holder::{ARENA, HOME, Holder};
pub(crate) use lines::{ALIGN_BYTES, round_up};
pub(crate) use node::{MemoryNode, NotesBytes};
pub(crate) use pages::{give_back, resident};
pub(crate) use references::References;
pub(crate) use region::{Carved, Chunk, RegionRef};
pub(crate) use reservation::Reservation;
pub use shortage::Shortage;
pub(crate) use slab::Slab;
pub(crate) use usage::ArenaUse;
pub use usage::{MemoryHolder, MemoryUse};
