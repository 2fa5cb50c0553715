//! [`RegionRef`]: memory of an arena between two resets. Arrays are carved off its end and go all at once.

use std::ptr::NonNull;
use std::sync::Arc;

use super::arena::ArenaShared;
use super::{Block, References, round_up};
use crate::sync::{Mutex, MutexGuard};

/// A region, counted: one reference of the arena until its next reset, one of each array in the region. With the last
/// one the region goes back to its arena to be carved anew.
#[derive(Debug)]
pub(crate) struct RegionRef(NonNull<Region>);

#[derive(Debug)]
pub(super) struct Region {
    references: References,
    carving: Mutex<Carving>,
}

#[derive(Debug, Default)]
struct Carving {
    chunks: Vec<Chunk>,
    /// The chunk that is being carved.
    current: usize,
    /// Kept while the region is in use, so that it finds its way back; none in a free region (no cycle).
    arena: Option<Arc<ArenaShared>>,
}

#[derive(Debug)]
struct Chunk {
    block: Block,
    used: usize,
    /// What lies beyond has never been carved and is still zero.
    touched: usize,
}

/// A piece of a region.
pub(crate) struct Carved {
    pub(crate) pointer: *mut u8,
    /// Whether the bytes are known to be zero.
    pub(crate) zero: bool,
}

// SAFETY: a region is reached through atomics and a mutex alone.
unsafe impl Send for RegionRef {}
// SAFETY: as for `Send`.
unsafe impl Sync for RegionRef {}

impl Region {
    pub(super) fn empty() -> Box<Self> {
        Box::new(Self { references: References::new(0), carving: Mutex::default() })
    }

    fn carving(&self) -> MutexGuard<'_, Carving> {
        self.carving.lock().unwrap_or_else(|poison| poison.into_inner())
    }

    pub(super) fn reserved_bytes(&self) -> usize {
        self.carving().chunks.iter().map(|chunk| chunk.block.bytes()).sum()
    }
}

impl RegionRef {
    /// The arena's own reference to a region that was free.
    pub(super) fn new(region: Box<Region>, arena: &Arc<ArenaShared>) -> Self {
        region.references.restart();
        region.carving().arena = Some(Arc::clone(arena));
        Self(NonNull::from(Box::leak(region)))
    }

    fn region(&self) -> &Region {
        // SAFETY: the region is given back, and perhaps freed, with the last reference; this is one.
        unsafe { self.0.as_ref() }
    }

    /// Bytes carved off so far.
    pub(super) fn used_bytes(&self) -> usize {
        self.region().carving().chunks.iter().map(|chunk| chunk.used).sum()
    }

    /// Carves off `bytes` bytes; nothing if they cannot be had.
    pub(super) fn carve(&self, bytes: usize) -> Option<Carved> {
        let bytes = round_up(bytes)?;
        let mut guard = self.region().carving();
        let carving = &mut *guard;
        while let Some(chunk) = carving.chunks.get_mut(carving.current) {
            if chunk.block.bytes() - chunk.used >= bytes {
                return Some(chunk.carve(bytes));
            }
            carving.current += 1;
        }
        let arena = carving.arena.as_ref().expect("a region in use knows its arena");
        let held: usize = carving.chunks.iter().map(|chunk| chunk.block.bytes()).sum();
        // As much as the last steps needed, at least doubling: a region ends with few chunks.
        let wished = bytes.max(held).max(arena.usual_bytes().saturating_sub(held));
        let block = arena.allocate(wished).or_else(|| arena.allocate(bytes))?;
        carving.chunks.push(Chunk { block, used: 0, touched: 0 });
        carving.chunks.last_mut().map(|chunk| chunk.carve(bytes))
    }
}

impl Chunk {
    fn carve(&mut self, bytes: usize) -> Carved {
        let start = self.used;
        self.used += bytes;
        let zero = start >= self.touched;
        self.touched = self.touched.max(self.used);
        // SAFETY: `start` and the `bytes` after it lie in the block.
        let pointer = unsafe { self.block.pointer().add(start) };
        Carved { pointer, zero }
    }
}

impl Clone for RegionRef {
    fn clone(&self) -> Self {
        self.region().references.add();
        Self(self.0)
    }
}

impl Drop for RegionRef {
    fn drop(&mut self) {
        if !self.region().references.let_go() {
            return;
        }
        // SAFETY: this was the last reference; `new` leaked the box.
        let region = unsafe { Box::from_raw(self.0.as_ptr()) };
        let mut carving = region.carving();
        carving.current = 0;
        for chunk in &mut carving.chunks {
            chunk.used = 0;
        }
        let arena = carving.arena.take();
        drop(carving);
        if let Some(arena) = arena {
            arena.give_back(region);
        }
    }
}
