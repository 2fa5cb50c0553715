//! [`Copies`]: where else than at home an array's elements are. Used in runtimes that have devices, and nowhere else.
//!
//! An array's *home* is the buffer that it was made with, in the main memory; a part's is within its whole's. Beside it
//! there may be one copy in each device's memory: contiguous, in row-major order. Home and copies are each valid or not;
//! at least one is valid, unless the device with the only one was lost.
//!
//! **Who writes what.** A copy (or home) that is not valid is read by nobody, and is written under the lock, by whoever
//! makes it valid. One that is valid is written by the holder of an exclusive access, who has made all others invalid
//! before. A copy that a task uses is pinned: it is neither freed nor moved before the task has ended.
//!
//! **Locks.** A device's register of copies is locked before the copies of an array, never after.
#![allow(unsafe_code, reason = "copies elements between memory nodes")]

use std::panic::Location;
use std::ptr;
use std::sync::Arc;

use super::state::ArrayState;
use crate::codelet::Operand;
use crate::device::Transfer;
use crate::error::Failure;
use crate::memory::{Block, Holder, Shortage};
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use crate::sync::{Mutex, MutexGuard};

/// The main memory, where arrays are at home.
pub(crate) const HOME: usize = 0;

/// Where else than at home an array's elements are.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    /// Whether there has been a copy: what every access at home looks at.
    any: AtomicBool,
    /// Whether home is not valid.
    away: AtomicBool,
    /// When the last transfer of the elements ends.
    arrived_ns: AtomicU64,
    list: Mutex<Vec<Copy>>,
}

/// Elements in a device's memory.
#[derive(Debug)]
struct Copy {
    node: usize,
    block: Block,
    valid: bool,
    /// Tasks that use it.
    pins: u32,
}

/// The arrays that have copies in a device's memory, those that were used last at the end.
#[derive(Debug, Default)]
pub(crate) struct Register(Mutex<Vec<*const ArrayState>>);

// SAFETY: the states that the pointers lead to take themselves off the list, under its lock, before they are freed; they
// may be used by any thread.
unsafe impl Send for Register {}
// SAFETY: as for `Send`.
unsafe impl Sync for Register {}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poison| poison.into_inner())
}

impl Register {
    /// Notes that a copy of `state` is used.
    fn touch(&self, state: &ArrayState) {
        let mut states = lock(&self.0);
        states.retain(|&other| !ptr::eq(other, state));
        states.push(state);
    }

    fn remove(&self, state: &ArrayState) {
        lock(&self.0).retain(|&other| !ptr::eq(other, state));
    }

    /// Frees a copy that no task uses: one that is valid elsewhere before one that must be written back, and of these
    /// the one that was not used for longest. False if there is none.
    pub(crate) fn evict(&self, node: usize) -> bool {
        let mut states = lock(&self.0);
        let is_clean = |clean: bool| {
            move |&state: &*const ArrayState| {
                // SAFETY: states take themselves off the list before they are freed.
                let copies = unsafe { &(*state).copies };
                let list = lock(&copies.list);
                let copy = list.iter().find(|copy| copy.node == node);
                copy.is_some_and(|copy| copy.pins == 0 && copies.is_dirty(copy, &list) != clean)
            }
        };
        let victim =
            states.iter().position(is_clean(true)).or_else(|| states.iter().position(is_clean(false)));
        let Some(victim) = victim else { return false };
        let state = states.remove(victim);
        // SAFETY: as above.
        unsafe { &*state }.drop_copy(node);
        true
    }

    /// Forgets all copies, when the device is lost.
    pub(crate) fn lose(&self, node: usize) {
        for state in lock(&self.0).drain(..) {
            // SAFETY: as above.
            let copies = unsafe { &(*state).copies };
            lock(&copies.list).retain(|copy| copy.node != node);
        }
    }
}

/// Why elements cannot be had at a memory node.
#[derive(Debug)]
pub(crate) enum Missing {
    /// A task that should have written them failed.
    Poisoned(Arc<Failure>),
    /// There is no room for them.
    Shortage(Shortage),
    /// They were in the memory of a device that was lost.
    Lost,
}

impl Missing {
    /// The failure that `array` is left with.
    pub(crate) fn into_failure(self, array: &ArrayState) -> Arc<Failure> {
        let message = match self {
            Self::Poisoned(failure) => return failure,
            Self::Shortage(shortage) => format!("out of memory: {shortage}"),
            Self::Lost => "what it held was in the memory of a device that is lost".to_owned(),
        };
        let failure = Failure::new("transfer", "the main memory".to_owned(), Location::caller(), message);
        let failure = Arc::new(failure);
        array.shared().note_failure(&failure);
        failure
    }
}

impl Copies {
    /// Whether home may be read.
    pub(super) fn is_home(&self) -> bool {
        !self.away.load(Ordering::Acquire)
    }

    /// Whether there may be copies.
    pub(super) fn may_exist(&self) -> bool {
        self.any.load(Ordering::Acquire)
    }

    /// Whether `copy` is the only valid one.
    fn is_dirty(&self, copy: &Copy, list: &[Copy]) -> bool {
        copy.valid && !self.is_home() && !list.iter().any(|other| other.node != copy.node && other.valid)
    }

    /// When the last transfer of the elements ends.
    pub(crate) fn arrived_ns(&self) -> u64 {
        self.arrived_ns.load(Ordering::Relaxed)
    }

    /// Lets nobody have the elements before `time_ns`.
    pub(crate) fn delay(&self, time_ns: u64) {
        self.arrived_ns.fetch_max(time_ns, Ordering::Relaxed);
    }

    /// Makes home valid and every copy not: somebody wrote the elements at home.
    pub(super) fn stay_home(&self) {
        if self.may_exist() {
            lock(&self.list).iter_mut().for_each(|copy| copy.valid = false);
            self.away.store(false, Ordering::Release);
        }
    }

    /// Lets a task's copy go where it may.
    pub(super) fn unpin(&self, node: usize) {
        if let Some(copy) = lock(&self.list).iter_mut().find(|copy| copy.node == node) {
            copy.pins -= 1;
        }
    }
}

impl ArrayState {
    /// If the elements are not at memory node `node`: where they would come from, and how many bytes they are.
    pub(crate) fn missing_at(&self, node: usize) -> Option<(usize, usize)> {
        let from = if !self.copies.may_exist() {
            HOME
        } else {
            let list = lock(&self.copies.list);
            let is_home = self.copies.is_home();
            let mut valid = list.iter().filter(|copy| copy.valid).map(|copy| copy.node);
            if (is_home && node == HOME) || valid.clone().any(|other| other == node) {
                return None;
            }
            if is_home { HOME } else { valid.next()? }
        };
        (from != node).then(|| (from, self.bytes()))
    }

    /// Makes sure of valid elements at `node`, for a task that holds an access: what it `reads` is brought there, and
    /// if it is `exclusive`, it is valid nowhere else from now on. A copy is pinned.
    ///
    /// # Safety
    /// The caller holds an access, exclusive if it says so.
    pub(super) unsafe fn fetch(
        &self,
        node: usize,
        reads: bool,
        exclusive: bool,
        holder: Holder,
    ) -> Result<*mut u8, Missing> {
        if node == HOME {
            let mut list = lock(&self.copies.list);
            if reads && !self.copies.is_home() {
                self.bring_home(&mut list)?;
            }
            if exclusive {
                list.iter_mut().for_each(|copy| copy.valid = false);
            }
            self.copies.away.store(false, Ordering::Release);
            return Ok(self.pointer());
        }
        let device = self.shared().devices().expect("there are other memory nodes").memory(node);
        if !lock(&self.copies.list).iter().any(|copy| copy.node == node) {
            let block = device.block(self.bytes(), holder).map_err(Missing::Shortage)?;
            let mut list = lock(&self.copies.list);
            // Unless another thread has prefetched it meanwhile.
            if !list.iter().any(|copy| copy.node == node) {
                list.push(Copy { node, block, valid: false, pins: 0 });
                self.copies.any.store(true, Ordering::Release);
            }
        }
        device.register.touch(self);
        let mut list = lock(&self.copies.list);
        let mut place = list.iter().position(|copy| copy.node == node);
        if let Some(copy) = place.map(|place| &mut list[place]) {
            copy.pins += 1;
        }
        let index = place.take().expect("it was just made, and nobody evicts while a task is issued");
        if reads && !list[index].valid {
            if let Err(missing) = self.bring_to(index, &mut list) {
                list[index].pins -= 1;
                return Err(missing);
            }
        }
        if exclusive {
            list.iter_mut().for_each(|copy| copy.valid = false);
            self.copies.away.store(true, Ordering::Release);
        }
        list[index].valid = true;
        Ok(list[index].block.pointer())
    }

    /// Copies the elements to the device's memory `node`, if they are there to be copied, and there is room without
    /// freeing any.
    ///
    /// # Safety
    /// The caller holds an access.
    pub(crate) unsafe fn prefetch(&self, node: usize, location: &'static Location<'static>) {
        if !self.is_ready() {
            return;
        }
        let device = self.shared().devices().expect("there are other memory nodes").memory(node);
        device.register.touch(self);
        let mut list = lock(&self.copies.list);
        let known = list.iter().position(|copy| copy.node == node);
        let index = known.unwrap_or(list.len());
        if known.is_none() {
            let holder = Holder::new("copies", location);
            let Some(block) = Block::zeroed(device.memory(), self.bytes(), holder) else { return };
            list.push(Copy { node, block, valid: false, pins: 0 });
            self.copies.any.store(true, Ordering::Release);
        }
        if !list[index].valid {
            // A loss comes out where the task runs.
            let _ = self.bring_to(index, &mut list);
        }
    }

    /// Makes copy `index` of the list valid.
    fn bring_to(&self, index: usize, list: &mut [Copy]) -> Result<(), Missing> {
        let (node, to) = (list[index].node, list[index].block.pointer());
        let from = if self.copies.is_home() {
            // SAFETY: home is valid and the caller of `fetch` holds an access, so nobody writes it; the copy is not
            // valid, so nobody else touches it, and it has as many bytes.
            unsafe { self.home_operand().pack_into(to) };
            HOME
        } else {
            let source = list.iter().find(|copy| copy.valid).ok_or(Missing::Lost)?;
            // SAFETY: as above, of the source; both are blocks of at least so many bytes.
            unsafe { ptr::copy_nonoverlapping(source.block.pointer(), to, self.bytes()) };
            source.node
        };
        self.charge(from, node);
        list[index].valid = true;
        Ok(())
    }

    /// Makes home valid.
    fn bring_home(&self, list: &mut [Copy]) -> Result<(), Missing> {
        let source = list.iter().find(|copy| copy.valid).ok_or(Missing::Lost)?;
        // SAFETY: the source is valid and the caller holds an access, or evicts it while no task uses it, so nobody
        // writes it; home is not valid, so nobody else touches it.
        unsafe { self.home_operand().unpack_from(source.block.pointer()) };
        self.charge(source.node, HOME);
        self.copies.away.store(false, Ordering::Release);
        Ok(())
    }

    /// Frees the copy at `node`; if it is the only valid one, home gets its elements.
    fn drop_copy(&self, node: usize) {
        let mut list = lock(&self.copies.list);
        let Some(index) = list.iter().position(|copy| copy.node == node) else { return };
        if self.copies.is_dirty(&list[index], &list) {
            let came_home = self.bring_home(&mut list);
            debug_assert!(came_home.is_ok(), "there is a valid copy");
        }
        list.swap_remove(index);
    }

    /// Counts a transfer of the elements, and notes when it ends.
    fn charge(&self, from: usize, to: usize) {
        let transfer = Transfer { array: self.id(), from, to, bytes: self.bytes() };
        let end_ns = self.shared().devices().expect("there are other memory nodes").charge(transfer);
        self.copies.delay(end_ns);
    }

    /// The elements at home.
    fn home_operand(&self) -> Operand {
        let (element, layout) = self.home_layout();
        Operand { pointer: self.pointer(), layout, element, writes: true, reads: true }
    }

    /// Forgets all copies: the elements at home are others from now on, or the array is gone.
    pub(super) fn forget_copies(&self) {
        if !self.copies.may_exist() {
            return;
        }
        let nodes: Vec<usize> = lock(&self.copies.list).iter().map(|copy| copy.node).collect();
        for node in nodes {
            self.shared().devices().expect("there are other memory nodes").memory(node).register.remove(self);
        }
        lock(&self.copies.list).clear();
        self.copies.away.store(false, Ordering::Release);
        self.copies.any.store(false, Ordering::Release);
        self.copies.arrived_ns.store(0, Ordering::Relaxed);
    }
}
