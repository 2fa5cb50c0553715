//! [`ArenaShared`]: what an arena and its regions share: how much they hold, and what is free.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use super::region::{Chunk, Region, RegionRef};
use super::{ArenaUse, Holder, MemoryNode};
use crate::sleep::Monitor;
use crate::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use crate::sync::{Mutex, MutexGuard};

/// Regions for reuse.
#[allow(clippy::vec_box, reason = "a region goes to and fro without moving and without an allocation")]
type FreeRegions = Vec<Box<Region>>;

/// The state that an arena shares with its regions, which may outlive it.
pub(crate) struct ArenaShared {
    /// The main memory.
    pub(crate) memory: Arc<MemoryNode>,
    /// Threads that wait for bytes.
    progress: Arc<Monitor>,
    pub(crate) holder: Holder,
    /// If set, so many bytes are reserved from the start, in one chunk.
    pub(crate) capacity_bytes: Option<usize>,
    free: Mutex<FreeRegions>,
    /// Whether the arena is gone: returned regions are then freed.
    pub(crate) closed: AtomicBool,
    /// Bytes allocated from all regions in use.
    pub(crate) current_bytes: AtomicUsize,
    pub(crate) reserved_bytes: AtomicUsize,
    pub(crate) peak_bytes: AtomicUsize,
    /// Bytes that the last step before a reset used.
    pub(crate) usual_bytes: AtomicUsize,
    /// Bytes of regions that the arena has released and that tasks in flight still use.
    pub(crate) dying_bytes: AtomicUsize,
    /// How many of them may remain when a waiting thread continues; 0 if no thread waits.
    pub(crate) awaited_bytes: AtomicUsize,
}

impl fmt::Debug for ArenaShared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArenaShared").field("reserved_bytes", &self.reserved_bytes).finish_non_exhaustive()
    }
}

impl Drop for ArenaShared {
    fn drop(&mut self) {
        self.memory.end_arena(self.holder.location, self.peak_bytes.load(Ordering::Relaxed));
    }
}

impl ArenaShared {
    pub(crate) fn new(
        memory: Arc<MemoryNode>,
        progress: Arc<Monitor>,
        holder: Holder,
        capacity_bytes: Option<usize>,
    ) -> Self {
        Self {
            memory,
            progress,
            holder,
            capacity_bytes,
            free: Mutex::default(),
            closed: AtomicBool::new(false),
            current_bytes: AtomicUsize::new(0),
            reserved_bytes: AtomicUsize::new(0),
            peak_bytes: AtomicUsize::new(0),
            usual_bytes: AtomicUsize::new(0),
            dying_bytes: AtomicUsize::new(0),
            awaited_bytes: AtomicUsize::new(0),
        }
    }

    pub(crate) fn free(&self) -> MutexGuard<'_, FreeRegions> {
        self.free.lock().unwrap_or_else(|poison| poison.into_inner())
    }

    pub(crate) fn note_reserved(&self, bytes: usize) {
        let reserved = self.reserved_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.peak_bytes.fetch_max(reserved, Ordering::Relaxed);
    }

    pub(crate) fn note_carved(&self, bytes: usize) {
        self.current_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// The chunk of a free region, if one has any.
    pub(crate) fn take_kept(&self) -> Option<Chunk> {
        self.free().iter().find_map(|region| region.take_chunk())
    }

    /// Frees regions that are kept for reuse, until they amount to `bytes`. Returns the bytes freed.
    pub(crate) fn trim(&self, bytes: usize) -> usize {
        let mut freed = 0;
        while freed < bytes && self.capacity_bytes.is_none() {
            let Some(region) = self.free().pop() else { break };
            let reserved = region.reserved_bytes();
            drop(region);
            self.reserved_bytes.fetch_sub(reserved, Ordering::Relaxed);
            freed += reserved;
        }
        freed
    }

    /// The line that created it.
    pub(crate) fn location(&self) -> &'static Location<'static> {
        self.holder.location
    }

    /// Adds its memory use.
    pub(crate) fn add_to(&self, sum: ArenaUse) -> ArenaUse {
        ArenaUse {
            current_bytes: sum.current_bytes + self.current_bytes.load(Ordering::Relaxed),
            reserved_bytes: sum.reserved_bytes + self.reserved_bytes.load(Ordering::Relaxed),
            peak_bytes: sum.peak_bytes.max(self.peak_bytes.load(Ordering::Relaxed)),
            ..sum
        }
    }

    /// Bytes that are reserved and not allocated.
    pub(crate) fn idle_bytes(&self) -> usize {
        let current = self.current_bytes.load(Ordering::Relaxed);
        self.reserved_bytes.load(Ordering::Relaxed).saturating_sub(current)
    }

    /// Takes back a region of which `used` bytes had been allocated.
    pub(crate) fn give_back(&self, region: Box<Region>, used: usize) {
        self.current_bytes.fetch_sub(used, Ordering::Relaxed);
        let mut free = self.free();
        if self.closed.load(Ordering::Relaxed) {
            drop(free);
            let reserved = region.reserved_bytes();
            drop(region);
            self.reserved_bytes.fetch_sub(reserved, Ordering::Relaxed);
        } else {
            free.push(region);
        }
    }

    /// Records that only tasks in flight use a region of `bytes` bytes.
    pub(crate) fn begin_dying(&self, bytes: usize) {
        self.dying_bytes.fetch_add(bytes, Ordering::AcqRel);
        self.memory.begin_dying(bytes);
    }

    /// Records that such a region has been returned.
    pub(crate) fn end_dying(&self, bytes: usize) {
        let left = self.dying_bytes.fetch_sub(bytes, Ordering::AcqRel) - bytes;
        self.memory.end_dying(bytes);
        // Otherwise a thread that waits for the arena's bytes would not be woken.
        self.progress.notify_of_bytes(|| left <= self.awaited_bytes.load(Ordering::Relaxed));
    }

    /// Whether the regions of tasks in flight, together with `current` bytes, take at most `bytes`.
    pub(crate) fn holds_within(&self, current: usize, bytes: usize) -> bool {
        self.dying_bytes.load(Ordering::Acquire) + current <= bytes
    }

    pub(crate) fn take_region(self: &Arc<Self>) -> RegionRef {
        let region = self.free().pop().unwrap_or_else(Region::empty);
        RegionRef::new(region, self)
    }
}
