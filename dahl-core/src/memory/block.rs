//! [`Block`]: an allocation, which its memory node accounts for.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;
use std::sync::Arc;

use super::huge_pages::{HUGE_PAGE_BYTES, HugePages};
use super::{ALIGN_BYTES, Holder, MemoryNode, Reservation, round_up};

/// The alignment of every allocator.
const MALLOC_ALIGN_BYTES: usize = 16;
/// From this size on glibc's allocator maps memory for each allocation, and unmaps it when that is freed.
const NEVER_RECYCLED_BYTES: usize = 32 << 20;

/// An allocation of whole lines, zero at first.
#[derive(Debug)]
pub(crate) struct Block {
    /// The first line, within the memory.
    pointer: NonNull<u8>,
    /// Held to be dropped.
    _memory: Memory,
    /// Dropped after the memory.
    reservation: Reservation,
}

/// The memory of a block, which it owns.
#[derive(Debug)]
enum Memory {
    /// Memory from the allocator with a layout, by `alloc_zeroed` or by a vector.
    Allocated(NonNull<u8>, Layout),
    HugePages(#[expect(dead_code, reason = "it is there to be dropped")] HugePages),
}

impl Memory {
    /// Memory for `bytes` bytes of zeros aligned to a line, and their start.
    fn zeroed(bytes: usize, holder: Holder) -> Option<(Self, NonNull<u8>)> {
        // New pages are slower than pages that the allocator reuses.
        let least = if holder.is_arena() { HUGE_PAGE_BYTES } else { NEVER_RECYCLED_BYTES };
        if bytes >= least
            && let Some(pages) = HugePages::map(bytes)
        {
            let start = pages.start();
            return Some((Self::HugePages(pages), start));
        }
        // The system zeroes the pages of large blocks when a worker first touches them; but only if the allocator need not
        // align them, which would make it write the zeros here.
        let layout = Layout::from_size_align(bytes + ALIGN_BYTES, MALLOC_ALIGN_BYTES).ok()?;
        // SAFETY: `layout` is larger than a line.
        let allocation = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        let to_line = allocation.as_ptr().align_offset(ALIGN_BYTES);
        // SAFETY: `to_line` is below `ALIGN_BYTES`, and the allocation is that much larger than the block.
        let start = unsafe { allocation.add(to_line) };
        Some((Self::Allocated(allocation, layout), start))
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if let Self::Allocated(allocation, layout) = self
            && layout.size() > 0
        {
            // SAFETY: it was made with this layout by `alloc_zeroed`, or by the vector whose layout it is.
            unsafe { dealloc(allocation.as_ptr(), *layout) };
        }
    }
}

// SAFETY: a block is plain memory that it owns; it is not tied to a thread.
unsafe impl Send for Block {}
// SAFETY: as for `Send`; its methods only return the address.
unsafe impl Sync for Block {}

/// The size of a block for at least `bytes` bytes.
pub(crate) fn block_bytes(bytes: usize) -> usize {
    round_up(bytes.max(1)).unwrap_or(usize::MAX)
}

impl Block {
    /// At least `bytes` bytes of zeros; none if they cannot be allocated, even with the memory that arenas keep for
    /// reuse. Does not wait.
    pub(crate) fn zeroed(node: &Arc<MemoryNode>, bytes: usize, holder: Holder) -> Option<Self> {
        let bytes = round_up(bytes.max(1))?;
        Self::allocate(node, bytes, holder).or_else(|| {
            node.trim(bytes);
            Self::allocate(node, bytes, holder)
        })
    }

    /// `bytes` bytes, whole lines, of zeros.
    fn allocate(node: &Arc<MemoryNode>, bytes: usize, holder: Holder) -> Option<Self> {
        let reservation = Reservation::new(node, bytes, holder)?;
        let (memory, pointer) = Memory::zeroed(bytes, holder)?;
        node.note_peak();
        Some(Self { pointer, _memory: memory, reservation })
    }

    /// The memory of a vector, without a copy. Its address is the vector's, and it counts as reserved even beyond the
    /// limit.
    pub(crate) fn from_vec<T: bytemuck::Pod>(node: &Arc<MemoryNode>, vec: Vec<T>, holder: Holder) -> Self {
        let mut vec = std::mem::ManuallyDrop::new(vec);
        let layout = Layout::array::<T>(vec.capacity()).expect("a vector's layout is valid");
        let pointer = NonNull::new(vec.as_mut_ptr().cast()).expect("a vector's pointer is not null");
        let reservation = Reservation::existing(node, layout.size(), holder);
        Self { pointer, _memory: Memory::Allocated(pointer, layout), reservation }
    }

    pub(crate) fn pointer(&self) -> *mut u8 {
        self.pointer.as_ptr()
    }

    /// The first `len` bytes.
    pub(crate) fn first_bytes_mut(&mut self, len: usize) -> &mut [u8] {
        assert!(len <= self.bytes());
        // SAFETY: the block has `len` bytes, zero from the beginning or initialised as a vector's plain elements, and
        // `&mut self` is the only reference to them in use.
        unsafe { std::slice::from_raw_parts_mut(self.pointer.as_ptr(), len) }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.reservation.bytes()
    }
}
