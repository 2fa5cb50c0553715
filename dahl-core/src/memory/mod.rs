//! Memory: nodes with their limits, blocks from the allocator, regions from which arenas allocate arrays, and slabs of
//! recycled records.
//!
//! Not here: the meaning of an array's bytes (`array`), and who may touch them when (`task`).
#![allow(unsafe_code, reason = "raw allocations; each block states who keeps them valid")]

mod arena;
mod block;
mod buffer;
mod huge_pages;
mod node;
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
pub(crate) use node::{ARENA, HOME, Holder, MemoryNode, NotesBytes};
pub(crate) use references::References;
pub(crate) use region::{Carved, Chunk, RegionRef};
pub(crate) use reservation::Reservation;
pub use shortage::Shortage;
pub(crate) use slab::Slab;
pub(crate) use usage::ArenaUse;
pub use usage::{MemoryHolder, MemoryUse};

/// Where arrays begin: a cache line, and the width of an AVX-512 register.
pub(crate) const ALIGN_BYTES: usize = 64;

/// `bytes` rounded up to whole lines, or nothing if that is more than an allocation can be.
pub(crate) fn round_up(bytes: usize) -> Option<usize> {
    let rounded = bytes.checked_next_multiple_of(ALIGN_BYTES)?;
    (rounded <= isize::MAX as usize - ALIGN_BYTES).then_some(rounded)
}
