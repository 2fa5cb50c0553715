//! [`Block`]: an allocation, accounted for at its memory node.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;
use std::sync::Arc;

use super::huge_pages::{self, HUGE_PAGE_BYTES};
use super::{ALIGN_BYTES, Holder, MemoryNode, round_up};

/// What every allocator aligns to.
const MALLOC_ALIGN_BYTES: usize = 16;

/// An allocation of whole lines, zero at first.
#[derive(Debug)]
pub(crate) struct Block {
    /// The first line, or huge page; within the allocation.
    pointer: NonNull<u8>,
    bytes: usize,
    allocation: NonNull<u8>,
    layout: Layout,
    node: Arc<MemoryNode>,
    holder: Holder,
}

// SAFETY: a block is plain memory that it owns; nothing about it belongs to a thread.
unsafe impl Send for Block {}
// SAFETY: as for `Send`; its methods only hand out the address.
unsafe impl Sync for Block {}

/// Bytes of a block of at least `bytes` bytes.
pub(crate) fn block_bytes(bytes: usize) -> usize {
    round_up(bytes.max(1)).unwrap_or(usize::MAX)
}

impl Block {
    /// At least `bytes` bytes of zeros; nothing if they cannot be had, not even from what arenas keep to use anew.
    /// Waits for nothing.
    pub(crate) fn zeroed(node: &Arc<MemoryNode>, bytes: usize, holder: Holder) -> Option<Self> {
        let bytes = round_up(bytes.max(1))?;
        Self::allocate(node, bytes, holder).or_else(|| {
            node.trim(bytes);
            Self::allocate(node, bytes, holder)
        })
    }

    /// `bytes` bytes, whole lines, of zeros.
    fn allocate(node: &Arc<MemoryNode>, bytes: usize, holder: Holder) -> Option<Self> {
        // The allocator gives large blocks as pages that are zero when they are first touched, by the worker that does;
        // but only if it need not align them, which would make it write the zeros here and now.
        // So it has more bytes, and the block begins where it may; what is before is never touched.
        let is_large = bytes >= HUGE_PAGE_BYTES;
        let alignment = if is_large { HUGE_PAGE_BYTES } else { ALIGN_BYTES };
        let layout = Layout::from_size_align(bytes.checked_add(alignment)?, MALLOC_ALIGN_BYTES).ok()?;
        if !node.try_reserve(bytes, holder) {
            return None;
        }
        // SAFETY: `layout` is not empty.
        let Some(allocation) = NonNull::new(unsafe { alloc_zeroed(layout) }) else {
            node.unreserve(bytes, holder);
            return None;
        };
        let to_start = allocation.as_ptr().align_offset(alignment);
        // SAFETY: `to_start` is below `alignment`, and the allocation that much larger than the block.
        let pointer = unsafe { allocation.add(to_start) };
        if is_large {
            huge_pages::ask_for(pointer.as_ptr(), bytes);
        }
        Some(Self { pointer, bytes, allocation, layout, node: Arc::clone(node), holder })
    }

    /// The memory of a vector, without a copy. It is where the vector's allocator put it, and it counts as reserved even
    /// beyond the limit.
    pub(crate) fn from_vec<T: bytemuck::Pod>(node: &Arc<MemoryNode>, vec: Vec<T>, holder: Holder) -> Self {
        let mut vec = std::mem::ManuallyDrop::new(vec);
        let layout = Layout::array::<T>(vec.capacity()).expect("a vector's layout is valid");
        let pointer = NonNull::new(vec.as_mut_ptr().cast()).expect("a vector's pointer is not null");
        node.reserve_existing(layout.size(), holder);
        Self { pointer, bytes: layout.size(), allocation: pointer, layout, node: Arc::clone(node), holder }
    }

    pub(crate) fn pointer(&self) -> *mut u8 {
        self.pointer.as_ptr()
    }

    /// The first `len` bytes.
    pub(crate) fn first_bytes_mut(&mut self, len: usize) -> &mut [u8] {
        assert!(len <= self.bytes());
        // SAFETY: the block has `len` bytes, initialised by `alloc_zeroed` or as a vector's plain elements were, and
        // `&mut self` is the only way to them that is in use.
        unsafe { std::slice::from_raw_parts_mut(self.pointer.as_ptr(), len) }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if self.layout.size() > 0 {
            // SAFETY: `allocation` was made with `layout` by `alloc_zeroed`, or by the vector whose layout it is.
            unsafe { dealloc(self.allocation.as_ptr(), self.layout) };
        }
        self.node.unreserve(self.bytes, self.holder);
    }
}
