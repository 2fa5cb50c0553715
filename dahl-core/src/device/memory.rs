//! [`DeviceMemory`]: a device's memory node, and the copies in it.

use std::sync::Arc;

use crate::array::Register;
use crate::memory::{Block, Holder, MemoryNode, Shortage};

/// The memory of a device.
#[derive(Debug)]
pub(crate) struct DeviceMemory {
    node: usize,
    memory: Arc<MemoryNode>,
    pub(crate) register: Register,
}

impl DeviceMemory {
    pub(crate) fn new(node: usize, memory: MemoryNode) -> Self {
        Self { node, memory: Arc::new(memory), register: Register::default() }
    }

    pub(crate) fn memory(&self) -> &Arc<MemoryNode> {
        &self.memory
    }

    /// Forgets everything in it.
    pub(crate) fn lose(&self) {
        self.register.lose(self.node);
    }

    /// A block of its memory; copies that no task uses make room.
    pub(crate) fn block(&self, bytes: usize, holder: Holder) -> Result<Block, Shortage> {
        loop {
            if let Some(block) = Block::zeroed(&self.memory, bytes, holder) {
                return Ok(block);
            }
            if !self.register.evict(self.node) {
                return Err(Shortage::new(&self.memory, bytes));
            }
        }
    }
}
