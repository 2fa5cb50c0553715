//! [`Home`]: an array's elements in main memory, and who owns that memory.

use crate::memory::{Block, RegionRef};

/// An array's elements in main memory. Those elsewhere are [replicas](super::replicas).
#[derive(Debug)]
pub(super) struct Home {
    pub(super) pointer: *mut u8,
    pub(super) origin: Origin,
    /// The other buffer of an array that is renamed repeatedly.
    pub(super) spare: Option<Block>,
}

impl Home {
    pub(super) const fn new(pointer: *mut u8, origin: Origin) -> Self {
        Self { pointer, origin, spare: None }
    }
}

/// The owner of an array's bytes.
#[derive(Debug)]
pub(crate) enum Origin {
    /// None: the state is free.
    None,
    /// A region of an arena.
    Region(#[expect(dead_code, reason = "held, not read: it keeps the region")] RegionRef),
    /// A block of its own.
    Block(Block),
}

impl Origin {
    /// Bytes of the array's own block.
    pub(super) fn block_bytes(&self) -> usize {
        match self {
            Self::Block(block) => block.bytes(),
            Self::None | Self::Region(_) => 0,
        }
    }
}
