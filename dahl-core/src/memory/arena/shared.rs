//! [`ArenaShared`]: what an arena and its regions know of each other: how much they hold, and what is free.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use crate::memory::region::{Chunk, Region, RegionRef};
use crate::memory::shortage::wait_for;
use crate::memory::{ArenaUse, Block, Holder, Shortage, block_in_submission};
use crate::runtime::Shared;
use crate::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use crate::sync::{Mutex, MutexGuard};

/// Regions to be carved anew.
#[allow(clippy::vec_box, reason = "a region goes to and fro without moving and without an allocation")]
type FreeRegions = Vec<Box<Region>>;

/// What an arena shares with its regions, which may outlive it.
pub(in crate::memory) struct ArenaShared {
    pub(super) runtime: Arc<Shared>,
    holder: Holder,
    /// If there is one, as much is reserved from the start, in one chunk.
    capacity_bytes: Option<usize>,
    free: Mutex<FreeRegions>,
    /// Whether the arena is gone: regions that come back are then freed.
    pub(super) closed: AtomicBool,
    /// Bytes carved off, in all regions that are in use.
    pub(super) current_bytes: AtomicUsize,
    pub(super) reserved_bytes: AtomicUsize,
    pub(super) peak_bytes: AtomicUsize,
    /// What the last step before a reset used.
    pub(super) usual_bytes: AtomicUsize,
    /// Bytes of regions that the arena has let go of and that tasks in flight hold.
    dying_bytes: AtomicUsize,
    /// Of them, how many may be left for a thread that [waits](Self::wait_within); 0 if none does.
    awaited_bytes: AtomicUsize,
}

impl fmt::Debug for ArenaShared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArenaShared").field("reserved_bytes", &self.reserved_bytes).finish_non_exhaustive()
    }
}

impl Drop for ArenaShared {
    fn drop(&mut self) {
        self.runtime.memory().end_arena(self.holder.location, self.peak_bytes.load(Ordering::Relaxed));
    }
}

impl ArenaShared {
    pub(super) fn new(runtime: Arc<Shared>, holder: Holder, capacity_bytes: Option<usize>) -> Self {
        Self {
            runtime,
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

    pub(super) fn free(&self) -> MutexGuard<'_, FreeRegions> {
        self.free.lock().unwrap_or_else(|poison| poison.into_inner())
    }

    pub(super) fn note_reserved(&self, bytes: usize) {
        let reserved = self.reserved_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.peak_bytes.fetch_max(reserved, Ordering::Relaxed);
    }

    pub(in crate::memory) fn note_carved(&self, bytes: usize) {
        self.current_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// A chunk of at least `bytes` bytes for a region that has `held` already. Waits if tasks in flight can free
    /// enough.
    pub(super) fn chunk(&self, bytes: usize, held: usize) -> std::result::Result<Chunk, Shortage> {
        let node = self.runtime.memory();
        if let Some(capacity_bytes) = self.capacity_bytes {
            let fits = bytes <= capacity_bytes;
            let may = || fits && self.dying_bytes.load(Ordering::Acquire) > 0;
            return wait_for(&self.runtime, || self.take_kept(), may).ok_or_else(|| {
                let used_bytes = self.current_bytes.load(Ordering::Relaxed);
                Shortage { capacity: Some((capacity_bytes, used_bytes)), ..Shortage::new(node, bytes) }
            });
        }
        // As much as the last steps needed, at least doubling: a region ends with few chunks. Where little is left, no
        // more than is needed.
        let usual = self.usual_bytes.load(Ordering::Relaxed);
        let wished = bytes.max(held).max(usual.saturating_sub(held));
        let spacious = if wished > bytes && node.has_room(wished.saturating_mul(2)) {
            Block::zeroed(node, wished, self.holder)
        } else {
            None
        };
        let block = spacious.map_or_else(|| block_in_submission(&self.runtime, bytes, self.holder), Ok)?;
        self.note_reserved(block.bytes());
        Ok(Chunk::new(block))
    }

    /// The chunk of a free region, if one has any.
    fn take_kept(&self) -> Option<Chunk> {
        self.free().iter().find_map(|region| region.take_chunk())
    }

    /// Frees regions that are kept to be used anew, until they make `bytes`. Returns how many bytes they made.
    pub(in crate::memory) fn trim(&self, bytes: usize) -> usize {
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

    /// The line that made it.
    pub(in crate::memory) fn location(&self) -> &'static Location<'static> {
        self.holder.location
    }

    /// Adds what it holds.
    pub(in crate::memory) fn add_to(&self, sum: ArenaUse) -> ArenaUse {
        ArenaUse {
            current_bytes: sum.current_bytes + self.current_bytes.load(Ordering::Relaxed),
            reserved_bytes: sum.reserved_bytes + self.reserved_bytes.load(Ordering::Relaxed),
            peak_bytes: sum.peak_bytes.max(self.peak_bytes.load(Ordering::Relaxed)),
            ..sum
        }
    }

    /// Bytes that are reserved and not carved off.
    pub(in crate::memory) fn idle_bytes(&self) -> usize {
        let current = self.current_bytes.load(Ordering::Relaxed);
        self.reserved_bytes.load(Ordering::Relaxed).saturating_sub(current)
    }

    /// Takes back a region of which `used` bytes had been carved off.
    pub(in crate::memory) fn give_back(&self, region: Box<Region>, used: usize) {
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

    /// Notes that a region of `bytes` bytes is held by tasks in flight alone.
    pub(in crate::memory) fn begin_dying(&self, bytes: usize) {
        self.dying_bytes.fetch_add(bytes, Ordering::AcqRel);
        self.runtime.memory().begin_dying(bytes);
    }

    /// Notes that such a region has come back.
    pub(in crate::memory) fn end_dying(&self, bytes: usize) {
        let left = self.dying_bytes.fetch_sub(bytes, Ordering::AcqRel) - bytes;
        self.runtime.memory().end_dying(bytes);
        // Else a thread that waits for the arena's bytes would wait on.
        self.runtime.progress().notify_of_bytes(|| left <= self.awaited_bytes.load(Ordering::Relaxed));
    }

    /// Whether the regions that tasks in flight hold, and `current` bytes beside them, take at most `bytes`.
    pub(super) fn holds_within(&self, current: usize, bytes: usize) -> bool {
        self.dying_bytes.load(Ordering::Acquire) + current <= bytes
    }

    /// Waits until [that](Self::holds_within) is so.
    pub(super) fn wait_within(&self, current: usize, bytes: usize) {
        // Before it waits, as `Monitor::wait_until` asks.
        self.awaited_bytes.store(bytes.saturating_sub(current), Ordering::Relaxed);
        self.runtime.wait_for_bytes(|| self.holds_within(current, bytes));
        self.awaited_bytes.store(0, Ordering::Relaxed);
    }

    pub(super) fn take_region(self: &Arc<Self>) -> RegionRef {
        let region = self.free().pop().unwrap_or_else(Region::empty);
        RegionRef::new(region, self)
    }
}
