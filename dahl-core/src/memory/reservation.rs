//! [`Reservation`]: bytes that a memory node counts as reserved, wherever they are.

use std::sync::Arc;

use super::{Holder, MemoryNode, round_up};

/// Reserved bytes of a memory node, until this is dropped.
#[derive(Debug)]
pub(crate) struct Reservation {
    bytes: usize,
    node: Arc<MemoryNode>,
    holder: Holder,
}

impl Reservation {
    /// A reservation of at least `bytes` bytes, whole lines; none if the limit does not allow it.
    pub(crate) fn new(node: &Arc<MemoryNode>, bytes: usize, holder: Holder) -> Option<Self> {
        let bytes = round_up(bytes.max(1))?;
        node.try_reserve(bytes, holder).then(|| Self { bytes, node: Arc::clone(node), holder })
    }

    /// A reservation for memory that is already allocated: it counts even beyond the limit.
    pub(super) fn existing(node: &Arc<MemoryNode>, bytes: usize, holder: Holder) -> Self {
        node.reserve_existing(bytes, holder);
        Self { bytes, node: Arc::clone(node), holder }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.node.unreserve(self.bytes, self.holder);
    }
}
