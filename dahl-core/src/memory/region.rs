//! [`RegionRef`]: memory of an arena between two resets. Arrays are allocated at its end and freed together.

use std::ptr::NonNull;
use std::sync::Arc;

use super::Block;
use super::References;
use super::arena::ArenaShared;
use crate::sync::{Mutex, MutexGuard};

/// A reference to a region: one of the arena until its next reset, one of each array in the region. With the last one
/// the region returns to its arena for reuse.
#[derive(Debug)]
pub(crate) struct RegionRef(NonNull<Region>);

#[derive(Debug)]
pub(crate) struct Region {
    references: References,
    carving: Mutex<Carving>,
}

#[derive(Debug, Default)]
struct Carving {
    chunks: Vec<Chunk>,
    /// The chunk that is allocated from.
    current: usize,
    /// Set while the region is in use, so that it can be returned; none in a free region (no cycle).
    arena: Option<Arc<ArenaShared>>,
    /// Bytes that were counted as dying.
    dying_bytes: Option<usize>,
}

/// A block that is allocated from its start on.
#[derive(Debug)]
pub(crate) struct Chunk {
    block: Block,
    used: usize,
    /// The bytes beyond have never been allocated and are still zero.
    touched: usize,
}

/// A part of a region.
pub(crate) struct Carved {
    pub(crate) pointer: *mut u8,
    /// Whether the bytes are known to be zero.
    pub(crate) zero: bool,
}

// SAFETY: a region is accessed only through atomics and a mutex.
unsafe impl Send for RegionRef {}
// SAFETY: as for `Send`.
unsafe impl Sync for RegionRef {}

impl Region {
    pub(crate) fn empty() -> Box<Self> {
        Box::new(Self { references: References::new(0), carving: Mutex::default() })
    }

    fn carving(&self) -> MutexGuard<'_, Carving> {
        self.carving.lock().unwrap_or_else(|poison| poison.into_inner())
    }

    pub(crate) fn reserved_bytes(&self) -> usize {
        self.carving().reserved_bytes()
    }

    /// Takes a chunk out of a free region.
    pub(crate) fn take_chunk(&self) -> Option<Chunk> {
        self.carving().chunks.pop()
    }
}

impl Carving {
    fn reserved_bytes(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.block.bytes()).sum()
    }

    fn used_bytes(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.used).sum()
    }

    /// Makes all its memory available again.
    fn restart(&mut self) {
        self.current = 0;
        for chunk in &mut self.chunks {
            chunk.used = 0;
        }
    }
}

impl RegionRef {
    /// The arena's reference to a region that was free.
    pub(crate) fn new(region: Box<Region>, arena: &Arc<ArenaShared>) -> Self {
        region.references.restart();
        region.carving().arena = Some(Arc::clone(arena));
        Self(NonNull::from(Box::leak(region)))
    }

    fn region(&self) -> &Region {
        // SAFETY: the region is returned, and possibly freed, with the last reference; this is one.
        unsafe { self.0.as_ref() }
    }

    /// Bytes allocated so far.
    pub(crate) fn used_bytes(&self) -> usize {
        self.region().carving().used_bytes()
    }

    /// Bytes of its chunks.
    pub(crate) fn reserved_bytes(&self) -> usize {
        self.region().carving().reserved_bytes()
    }

    /// Allocates `bytes` bytes, whole lines; none if no chunk has enough.
    pub(crate) fn carve(&self, bytes: usize) -> Option<Carved> {
        let mut guard = self.region().carving();
        let carving = &mut *guard;
        while let Some(chunk) = carving.chunks.get_mut(carving.current) {
            if chunk.block.bytes() - chunk.used >= bytes {
                let carved = chunk.carve(bytes);
                carving.arena.as_ref().expect("a region in use knows its arena").note_carved(bytes);
                return Some(carved);
            }
            if carving.current + 1 == carving.chunks.len() {
                return None;
            }
            carving.current += 1;
        }
        None
    }

    /// Adds a chunk to allocate from.
    pub(crate) fn add(&self, chunk: Chunk) {
        self.region().carving().chunks.push(chunk);
    }

    /// Whether this is the only reference. That of the arena then remains the only one while the arena is borrowed
    /// exclusively.
    pub(crate) fn is_sole(&self) -> bool {
        self.region().references.is_sole()
    }

    /// Frees everything in the region, of which this is the only reference. Returns the bytes that were allocated.
    pub(crate) fn restart(&mut self) -> usize {
        let mut carving = self.region().carving();
        let used = carving.used_bytes();
        carving.restart();
        used
    }

    /// Records that the arena has released the region while tasks in flight still use it.
    pub(crate) fn begin_dying(&self) {
        let mut carving = self.region().carving();
        let bytes = carving.reserved_bytes();
        carving.arena.as_ref().expect("a region in use knows its arena").begin_dying(bytes);
        carving.dying_bytes = Some(bytes);
    }
}

impl Chunk {
    pub(crate) fn new(block: Block) -> Self {
        Self { block, used: 0, touched: 0 }
    }

    fn carve(&mut self, bytes: usize) -> Carved {
        let start = self.used;
        self.used += bytes;
        let zero = start >= self.touched;
        self.touched = self.touched.max(self.used);
        // SAFETY: `start` and the `bytes` after it are within the block.
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
        let used_bytes = carving.used_bytes();
        carving.restart();
        let (arena, dying_bytes) = (carving.arena.take(), carving.dying_bytes.take());
        drop(carving);
        if let Some(arena) = arena {
            arena.give_back(region, used_bytes);
            if let Some(bytes) = dying_bytes {
                arena.end_dying(bytes);
            }
        }
    }
}
