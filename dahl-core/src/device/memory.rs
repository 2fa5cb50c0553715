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

    pub(crate) fn node(&self) -> usize {
        self.node
    }

    pub(crate) fn memory(&self) -> &Arc<MemoryNode> {
        &self.memory
    }

    /// Forgets everything in it.
    pub(crate) fn lose(&self, device: &str) {
        self.register.lose(self.node, device);
    }

    /// A block of its memory, and when it is free of what was there before; copies that no task uses make room.
    pub(crate) fn block(&self, bytes: usize, holder: Holder) -> Result<(Block, u64), Shortage> {
        let mut free_ns = 0;
        loop {
            if let Some(block) = Block::zeroed(&self.memory, bytes, holder) {
                return Ok((block, free_ns));
            }
            match self.register.evict(self.node) {
                Some(evicted_ns) => free_ns = free_ns.max(evicted_ns),
                None => return Err(Shortage::new(&self.memory, bytes)),
            }
        }
    }
}
