//! [`Slab`]: records at fixed addresses, recycled through a lock-free list.

use std::ptr;

use crate::sync::Mutex;
use crate::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

const FIRST_BLOCK: u32 = 64;
const BLOCKS: usize = 26;

/// Records that never move and are never freed before the slab. A record is handed out to one holder at a time.
/// The list of free records is a stack whose head has a counter, so that a record that was taken and returned between a
/// thread's load and its compare-and-swap is noticed.
#[derive(Debug)]
pub(crate) struct Slab<T> {
    /// Block `i` holds `FIRST_BLOCK << i` records.
    blocks: [AtomicPtr<Slot<T>>; BLOCKS],
    len: AtomicU32,
    /// Counter in the upper half; index of the first free record plus one in the lower half, 0 for none.
    head: AtomicU64,
    growth: Mutex<()>,
    make: fn(u32) -> T,
}

#[derive(Debug)]
pub(super) struct Slot<T> {
    next: AtomicU32,
    pub(super) record: T,
}

pub(super) fn block_of(index: u32) -> (usize, usize) {
    let block = (index / FIRST_BLOCK + 1).ilog2();
    let first = FIRST_BLOCK * ((1 << block) - 1);
    (block as usize, (index - first) as usize)
}

impl<T> Slab<T> {
    /// An empty slab, whose record of index `i` will be `make(i)`.
    pub(crate) fn new(make: fn(u32) -> T) -> Self {
        Self {
            blocks: std::array::from_fn(|_| AtomicPtr::new(ptr::null_mut())),
            len: AtomicU32::new(0),
            head: AtomicU64::new(0),
            growth: Mutex::new(()),
            make,
        }
    }

    pub(super) fn slot(&self, index: u32) -> &Slot<T> {
        let (block, offset) = block_of(index);
        let slots = self.blocks[block].load(Ordering::Acquire);
        debug_assert!(!slots.is_null());
        // SAFETY: indices come from `grow`, which stored the block of `FIRST_BLOCK << block` slots before it published
        // the index; only `drop` frees blocks.
        let slot = unsafe { slots.add(offset) };
        // SAFETY: as above; only shared references to slots exist.
        unsafe { &*slot }
    }

    /// A free record, if there is one.
    pub(crate) fn take(&self) -> Option<&T> {
        let mut head = self.head.load(Ordering::Acquire);
        loop {
            let index = (head as u32).checked_sub(1)?;
            let slot = self.slot(index);
            let next = slot.next.load(Ordering::Relaxed);
            let new = ((head >> 32).wrapping_add(1) << 32) | u64::from(next);
            match self.head.compare_exchange_weak(head, new, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Some(&slot.record),
                Err(now) => head = now,
            }
        }
    }

    /// Every record, free or not.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        (0..self.len.load(Ordering::Acquire)).map(|index| &self.slot(index).record)
    }

    /// Whether every record is free. Nothing takes or returns one meanwhile.
    pub(crate) fn is_unused(&self) -> bool {
        let (mut free, mut next) = (0, self.head.load(Ordering::Acquire) as u32);
        while let Some(index) = next.checked_sub(1) {
            free += 1;
            next = self.slot(index).next.load(Ordering::Relaxed);
        }
        free == self.len.load(Ordering::Acquire)
    }

    /// Whether there is a free record.
    pub(crate) fn has_free(&self) -> bool {
        self.head.load(Ordering::Acquire) as u32 != 0
    }

    /// A free record; a new one if there is none.
    pub(crate) fn take_or_grow(&self) -> &T {
        loop {
            match self.take() {
                Some(record) => return record,
                None => self.grow(u32::MAX),
            }
        }
    }

    /// Adds records, up to `limit` in total. Does nothing if there are free ones, or `limit` is reached.
    pub(crate) fn grow(&self, limit: u32) {
        let _guard = self.growth.lock().unwrap_or_else(|poison| poison.into_inner());
        let len = self.len.load(Ordering::Relaxed);
        if len >= limit || self.head.load(Ordering::Acquire) as u32 != 0 {
            return;
        }
        let (block, offset) = block_of(len);
        let capacity = FIRST_BLOCK << block;
        if offset == 0 {
            let slots: Box<[Slot<T>]> = (len..len + capacity)
                .map(|index| Slot { next: AtomicU32::new(0), record: (self.make)(index) })
                .collect();
            self.blocks[block].store(Box::into_raw(slots).cast(), Ordering::Release);
        }
        let end = (len - offset as u32 + capacity).min(limit);
        self.len.store(end, Ordering::Release);
        for index in len..end - 1 {
            self.slot(index).next.store(index + 2, Ordering::Relaxed);
        }
        self.give_back_run(len, end - 1);
    }

    /// Frees `first` to `last` together; [`lead`](Self::lead) has linked each but the last to the next.
    pub(crate) fn give_back_run(&self, first: u32, last: u32) {
        let last = self.slot(last);
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            last.next.store(head as u32, Ordering::Relaxed);
            let new = ((head >> 32).wrapping_add(1) << 32) | u64::from(first + 1);
            match self.head.compare_exchange_weak(head, new, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => head = now,
            }
        }
    }

    /// Links a run of free records: `from` is followed by `to`.
    pub(crate) fn lead(&self, from: u32, to: u32) {
        self.slot(from).next.store(to + 1, Ordering::Relaxed);
    }

    /// Frees one record.
    pub(crate) fn give_back(&self, index: u32) {
        self.give_back_run(index, index);
    }
}

impl<T> Drop for Slab<T> {
    fn drop(&mut self) {
        for (block, slots) in self.blocks.iter().enumerate() {
            let slots = slots.load(Ordering::Acquire);
            if !slots.is_null() {
                let slots = ptr::slice_from_raw_parts_mut(slots, (FIRST_BLOCK as usize) << block);
                // SAFETY: `grow` made it from a box of this length, and no reference outlives the slab.
                drop(unsafe { Box::from_raw(slots) });
            }
        }
    }
}
