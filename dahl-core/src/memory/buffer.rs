//! [`Buffer`]: memory that a worker keeps from task to task, for scratch and packed copies.

use std::sync::Arc;

use super::{Block, Holder, MemoryNode, Shortage};

/// A buffer that grows to the size that tasks need. Empty at first.
#[derive(Debug, Default)]
pub(crate) struct Buffer(Option<Kept>);

#[derive(Debug)]
struct Kept {
    block: Block,
    node: Arc<MemoryNode>,
}

impl Buffer {
    pub(crate) const EMPTY: Self = Self(None);

    /// The first of at least `bytes` initialised bytes, aligned to a line. The old content is lost if it must grow.
    pub(crate) fn at_least(
        &mut self,
        node: &Arc<MemoryNode>,
        bytes: usize,
        holder: Holder,
    ) -> Result<*mut u8, Shortage> {
        if let Some(kept) = self.0.as_ref().filter(|kept| kept.block.bytes() >= bytes) {
            return Ok(kept.block.pointer());
        }
        self.0 = None; // first, so that its room counts
        let block = Block::zeroed(node, bytes, holder).ok_or_else(|| Shortage::new(node, bytes))?;
        node.add_workers_bytes(block.bytes());
        Ok(self.0.insert(Kept { block, node: Arc::clone(node) }).block.pointer())
    }

    /// The limit of the memory node that it is of.
    pub(crate) fn limit_bytes(&self) -> Option<usize> {
        self.0.as_ref().and_then(|kept| kept.node.limit_bytes())
    }

    /// How many bytes there are.
    pub(crate) fn bytes(&self) -> usize {
        self.0.as_ref().map_or(0, |kept| kept.block.bytes())
    }

    /// The first byte; dangling if it is empty.
    pub(crate) fn pointer(&self) -> *mut u8 {
        let dangling = std::ptr::without_provenance_mut(super::ALIGN_BYTES);
        self.0.as_ref().map_or(dangling, |kept| kept.block.pointer())
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.node.remove_workers_bytes(self.block.bytes());
    }
}
