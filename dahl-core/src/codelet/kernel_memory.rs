//! [`KernelMemory`]: temporary memory that kernels take for themselves. It counts as the runtime's, and a lack of it fails
//! the task.
//!
//! A thread keeps what its kernels have taken ([`Kept`]). The workers of a simulation share a thread, and each has its own, so
//! that they need as much as threads would.
#![allow(unsafe_code, reason = "hands out the memory of a buffer, and keeps a pointer to its memory node")]

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::panic::{Location, resume_unwind};
use std::sync::{Arc, LazyLock};
use std::{ptr, slice};

use super::views::Line;
use crate::memory::{Buffer, Holder, MemoryNode};

thread_local! {
    /// The memory node of the runtime whose tasks this thread runs, or null.
    ///
    /// Invariant M: it is null, or borrowed by a [`Serving`] of this thread. Only `serve` and the drop of what it returned write
    /// it, and the latter restores what was there when the former was called, whose own borrow is longer.
    static NODE: Cell<*const Arc<MemoryNode>> = const { Cell::new(ptr::null()) };
    /// The line that submitted the task whose kernel runs on this thread.
    static LOCATION: Cell<Option<&'static Location<'static>>> = const { Cell::new(None) };
    static KEPT: RefCell<Kept> = const { RefCell::new(Kept::NOTHING) };
}

/// The kernel memory that is not in use, of a thread or of a simulated worker.
#[derive(Debug)]
pub(crate) struct Kept {
    /// Nested calls take and return them in the same order each time.
    buffers: Vec<KernelMemory>,
    /// Of `buffers`.
    bytes: usize,
    /// Of fused tasks.
    tiles: KernelMemory,
}

impl Kept {
    pub(crate) const NOTHING: Self =
        Self { buffers: Vec::new(), bytes: 0, tiles: KernelMemory(Buffer::EMPTY) };
}

/// Kernels on this thread use what a simulated worker has kept, and not what the thread has, as long as it lives.
pub(crate) struct Lent<'w>(&'w mut Kept);

/// Lets kernels on this thread use what a simulated worker has kept.
pub(crate) fn lend(kept: &mut Kept) -> Lent<'_> {
    KEPT.with_borrow_mut(|own| std::mem::swap(own, kept));
    Lent(kept)
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        KEPT.with_borrow_mut(|own| std::mem::swap(own, self.0));
    }
}

/// The memory for the tiles of a fused task. It goes back by [`give_back_tiles`].
pub(super) fn take_tiles() -> KernelMemory {
    KEPT.with_borrow_mut(|kept| std::mem::take(&mut kept.tiles))
}

/// Keeps the memory of tiles for the next fused task.
pub(super) fn give_back_tiles(tiles: KernelMemory) {
    KEPT.with_borrow_mut(|kept| kept.tiles = tiles);
}

/// Of kernels on threads that are no runtime's: those that rayon has lent, and tests of kernels.
static NO_RUNTIME: LazyLock<Arc<MemoryNode>> = LazyLock::new(|| Arc::new(MemoryNode::new(None)));

/// Kernels on this thread take memory of a node as long as it lives. It is dropped where it was made, and never forgotten.
pub(crate) struct Serving<'n> {
    /// What was there before: the host of one runtime may run tasks of another.
    before: *const Arc<MemoryNode>,
    node: PhantomData<&'n Arc<MemoryNode>>,
}

/// Lets kernels on this thread take memory of `node`.
#[inline]
pub(crate) fn serve(node: &Arc<MemoryNode>) -> Serving<'_> {
    Serving { before: NODE.replace(node), node: PhantomData }
}

impl Drop for Serving<'_> {
    #[inline]
    fn drop(&mut self) {
        NODE.set(self.before);
    }
}

/// Lets kernels on this thread take memory of no node: in place of those of a simulated device, which would need other memory.
pub(crate) fn serve_nowhere() -> Serving<'static> {
    serve(&NO_RUNTIME)
}

/// The node of the kernel that runs on this thread.
fn node() -> Arc<MemoryNode> {
    // SAFETY: invariant M: it is null or borrowed.
    let node = unsafe { NODE.get().as_ref() };
    Arc::clone(node.unwrap_or(&NO_RUNTIME))
}

/// The task whose kernel begins was submitted here. Returns what this thread knew before.
#[inline]
pub(crate) fn begin(location: &'static Location<'static>) -> Option<&'static Location<'static>> {
    LOCATION.replace(Some(location))
}

/// A part of another task's kernel has ended, which the thread ran within a kernel.
pub(super) fn begin_again(before: Option<&'static Location<'static>>) {
    LOCATION.set(before);
}

/// Memory that a kernel needs while it runs. Empty at first; it grows to what is asked for.
#[derive(Debug, Default)]
pub struct KernelMemory(Buffer);

impl KernelMemory {
    /// What the thread has kept and does not use; otherwise empty. It goes back by [`give_back`](Self::give_back).
    pub fn take() -> Self {
        KEPT.with_borrow_mut(|kept| {
            let memory = kept.buffers.pop().unwrap_or_default();
            kept.bytes -= memory.0.bytes();
            memory
        })
    }

    /// Lets the thread keep it for its next kernel, unless it is large: kernels over large arrays work in blocks, or take longer than
    /// it takes to have the memory again.
    pub fn give_back(self) {
        KEPT.with_borrow_mut(|kept| {
            if self.may_be_kept(kept.bytes) {
                kept.bytes += self.0.bytes();
                kept.buffers.push(self);
            }
        });
    }

    /// Whether a thread may keep it for its next kernel, and `others` bytes besides: at most 16 MiB in all, and a small
    /// part of what the runtime may reserve if there is a limit, since nobody can take it back.
    fn may_be_kept(&self, others: usize) -> bool {
        const MOST_BYTES: usize = 16 << 20;
        const OF_LIMIT: usize = 64;
        let most = self.0.limit_bytes().map_or(MOST_BYTES, |limit| MOST_BYTES.min(limit / OF_LIMIT));
        self.0.bytes() + others <= most
    }

    /// The first `count` lines of those that [`lines`](Self::lines) gave last.
    ///
    /// # Panics
    /// If it gave fewer.
    pub fn filled(&self, count: usize) -> &[Line] {
        assert!(count * size_of::<Line>() <= self.0.bytes(), "the memory has fewer lines");
        // SAFETY: the buffer has as many bytes, initialised and aligned to a line, and is borrowed as long as the slice is.
        unsafe { slice::from_raw_parts(self.0.pointer().cast(), count) }
    }

    /// `count` cache lines, initialised with whatever the last use left.
    ///
    /// If the memory cannot be had, within the limit of the runtime or at all, it does not return: the task fails.
    #[track_caller]
    pub fn lines(&mut self, count: usize) -> &mut [Line] {
        let bytes = count.saturating_mul(size_of::<Line>());
        let first = if self.0.bytes() >= bytes {
            Ok(self.0.pointer())
        } else {
            let holder = Holder::new("scratch", LOCATION.get().unwrap_or(Location::caller()));
            self.0.at_least(&node(), bytes, holder)
        };
        match first {
            // SAFETY: the buffer has as many bytes, initialised and aligned to a line, and is borrowed for change as long
            // as the slice is.
            Ok(first) => unsafe { slice::from_raw_parts_mut(first.cast(), count) },
            Err(shortage) => resume_unwind(Box::new(shortage)),
        }
    }
}
