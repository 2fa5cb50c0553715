//! How an arena gets memory, and waits until tasks in flight release some of it.

use super::Arena;
use crate::memory::{Block, Chunk, Shortage};
use crate::sync::atomic::Ordering;
use crate::task::{block_in_submission, wait_for, wait_for_bytes};

impl Arena {
    /// A chunk of at least `bytes` bytes for a region that has reserved `held` bytes. Waits if tasks in flight can free
    /// enough.
    pub(super) fn chunk(&self, bytes: usize, held: usize) -> Result<Chunk, Shortage> {
        let (node, shared) = (self.runtime.host().memory(), &self.shared);
        if let Some(capacity_bytes) = shared.capacity_bytes {
            let fits = bytes <= capacity_bytes;
            let may = || fits && shared.dying_bytes.load(Ordering::Acquire) > 0;
            return wait_for(&*self.runtime, || shared.take_kept(), may).ok_or_else(|| {
                let used_bytes = shared.current_bytes.load(Ordering::Relaxed);
                Shortage { capacity: Some((capacity_bytes, used_bytes)), ..Shortage::new(node, bytes) }
            });
        }
        // As much as the last steps needed, at least doubling: a region then has few chunks. If little is left of a
        // limit, no more than needed.
        let usual = shared.usual_bytes.load(Ordering::Relaxed);
        let wished = bytes.max(held).max(usual.saturating_sub(held));
        let spacious = if wished > bytes && node.has_room(wished.saturating_mul(2)) {
            Block::zeroed(node, wished, shared.holder)
        } else {
            None
        };
        let block = spacious.map_or_else(|| block_in_submission(&*self.runtime, bytes, shared.holder), Ok)?;
        shared.note_reserved(block.bytes());
        Ok(Chunk::new(block))
    }

    /// Waits until the regions of tasks in flight, together with `current` bytes, take at most `bytes`.
    pub(super) fn wait_within(&self, current: usize, bytes: usize) {
        // Stored before it waits, as `Monitor::wait_until` requires.
        self.shared.awaited_bytes.store(bytes.saturating_sub(current), Ordering::Relaxed);
        wait_for_bytes(&*self.runtime, || self.shared.holds_within(current, bytes));
        self.shared.awaited_bytes.store(0, Ordering::Relaxed);
    }
}
