//! [`Replicate`]: an array's elements in one memory node, and who keeps them.

use crate::memory::{Block, RegionRef};

/// Memory nodes. For now the host's is the only one.
pub(super) const NODES: usize = 1;
/// The host's memory node.
pub(super) const HOST: usize = 0;

/// An array's elements in one memory node.
#[derive(Debug)]
pub(super) struct Replicate {
    pub(super) pointer: *mut u8,
    pub(super) origin: Origin,
    /// The other buffer of an array that is renamed again and again.
    pub(super) spare: Option<Block>,
}

impl Replicate {
    pub(super) const fn new(pointer: *mut u8, origin: Origin) -> Self {
        Self { pointer, origin, spare: None }
    }
}

/// Who keeps an array's bytes.
#[derive(Debug)]
pub(crate) enum Origin {
    /// Nobody: the state is free.
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
