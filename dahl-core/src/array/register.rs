//! [`Register`]: the arrays that have copies in a device's memory, and which of them makes room for others.
//!
//! **Locks.** A register is locked before the copies of an array, never after.
#![allow(unsafe_code, reason = "knows states that take themselves off before they are freed")]

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

use super::state::ArrayState;
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{Mutex, MutexGuard};

/// The arrays that have copies in a device's memory.
#[derive(Debug, Default)]
pub(crate) struct Register {
    states: Mutex<HashSet<*const ArrayState>>,
    /// Uses of copies so far.
    uses: AtomicU64,
}

// SAFETY: the states that the pointers lead to take themselves off the list, under its lock, before they are freed; they
// may be used by any thread.
unsafe impl Send for Register {}
// SAFETY: as for `Send`.
unsafe impl Sync for Register {}

impl Register {
    fn states(&self) -> MutexGuard<'_, HashSet<*const ArrayState>> {
        self.states.lock().unwrap_or_else(|poison| poison.into_inner())
    }

    /// The number of the next use of a copy.
    pub(super) fn tick(&self) -> u64 {
        self.uses.fetch_add(1, Ordering::Relaxed)
    }

    /// Adds a state if `add_copy` has added a copy to it. Who loses the device, or evicts, sees both or neither.
    pub(super) fn add(&self, state: &ArrayState, add_copy: impl FnOnce() -> bool) {
        let mut states = self.states();
        if add_copy() {
            states.insert(state);
        }
    }

    pub(super) fn remove(&self, state: &ArrayState) {
        self.states().remove(&std::ptr::from_ref(state));
    }

    /// Frees a copy that no task uses: one that is not valid before one that is valid elsewhere too, that before one
    /// that must be written back, and of these the one that was not used for longest; the next one where home cannot get
    /// its elements now. When its room is free; nothing if there is none that can go.
    pub(crate) fn evict(&self, node: usize) -> Option<u64> {
        let mut states = self.states();
        let key = |&state: &*const ArrayState| {
            // SAFETY: states take themselves off the list before they are freed.
            let copies = unsafe { &*state }.copies();
            copies.eviction_key(node).map(|key| Reverse((key, state)))
        };
        let mut candidates: BinaryHeap<_> = states.iter().filter_map(key).collect();
        while let Some(Reverse((_, state))) = candidates.pop() {
            // SAFETY: as above; the list is locked still.
            if let Some(free_ns) = unsafe { &*state }.evict_copy(node) {
                states.remove(&state);
                return Some(free_ns);
            }
        }
        None
    }

    /// Forgets all copies, when `device` is lost.
    pub(crate) fn lose(&self, node: usize, device: &str) {
        for state in self.states().drain() {
            // SAFETY: as above; the list is locked while it is drained.
            unsafe { &*state }.lose_copy(node, device);
        }
    }
}
