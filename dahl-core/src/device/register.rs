//! [`Register`]: the arrays that have replicas in a device's memory, and which of these is evicted next.
//!
//! It knows arrays only through the trait [`Evictable`].
//!
//! **Locks.** A thread locks a register before the replicas of an array, never after.
#![allow(unsafe_code, reason = "knows states that take themselves off before they are freed")]

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::ptr;

use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{Mutex, MutexGuard};

/// The order in which replicas are evicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    Invalid,
    /// Valid, here and elsewhere.
    Clean,
    /// Valid only here: it must be written back.
    Dirty,
}

/// An array with replicas in the memories of devices.
pub(crate) trait Evictable: Send + Sync {
    /// The eviction order of the replica at `node`, the smallest first; none while a task uses it.
    fn eviction_key(&self, node: usize) -> Option<(Rank, u64)>;

    /// Frees the replica at `node`; if it is the only valid one, copies its elements home. Returns when its memory is
    /// free.
    ///
    /// None if it cannot be copied home now for lack of a staging buffer: the replica then stays.
    fn evict_replica(&self, node: usize) -> Option<u64>;

    /// Discards the replica at `node`, whose `device` is lost.
    fn lose_replica(&self, node: usize, device: &str);
}

/// The arrays with replicas in a device's memory.
#[derive(Debug, Default)]
pub(crate) struct Register {
    /// By their addresses.
    states: Mutex<HashMap<*const (), Listed>>,
    /// The number of uses of replicas so far.
    uses: AtomicU64,
}

/// An array on the list.
#[derive(Clone, Copy)]
struct Listed(*const dyn Evictable);

impl std::fmt::Debug for Listed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Pointer::fmt(&self.0, f)
    }
}

// SAFETY: states remove themselves from the list, under its lock, before they are freed (the caller of `add` ensures
// it); any thread may use them, as the trait requires.
unsafe impl Send for Register {}
// SAFETY: as for `Send`.
unsafe impl Sync for Register {}

impl Register {
    fn states(&self) -> MutexGuard<'_, HashMap<*const (), Listed>> {
        self.states.lock().unwrap_or_else(|poison| poison.into_inner())
    }

    /// The number of the next use of a replica.
    pub(crate) fn tick(&self) -> u64 {
        self.uses.fetch_add(1, Ordering::Relaxed)
    }

    /// Adds a state if `add_replica` has added a replica to it. A thread that loses the device, or evicts, sees both or
    /// neither.
    ///
    /// # Safety
    /// The state is [removed](Self::remove) before it is freed.
    pub(crate) unsafe fn add(&self, state: &(dyn Evictable + 'static), add_replica: impl FnOnce() -> bool) {
        let mut states = self.states();
        if add_replica() {
            let state = ptr::from_ref(state);
            states.insert(state.cast(), Listed(state));
        }
    }

    pub(crate) fn remove(&self, state: &(dyn Evictable + 'static)) {
        self.states().remove(&ptr::from_ref(state).cast());
    }

    /// Evicts a replica that no task uses: invalid ones before those that are also valid elsewhere, these before those
    /// that must be written back, and the least recently used one among equals; skips those that cannot be copied home
    /// now. Returns when its memory is free; none if no replica can be evicted.
    pub(crate) fn evict(&self, node: usize) -> Option<u64> {
        let mut states = self.states();
        let key = |(&address, &Listed(state)): (&*const (), &Listed)| {
            // SAFETY: states remove themselves from the list before they are freed (`add`), under its lock, which is
            // held.
            let state = unsafe { &*state };
            state.eviction_key(node).map(|key| Reverse((key, address)))
        };
        let mut candidates: BinaryHeap<_> = states.iter().filter_map(key).collect();
        while let Some(Reverse((_, address))) = candidates.pop() {
            let Some(&Listed(state)) = states.get(&address) else { continue };
            // SAFETY: as above; the list is still locked.
            if let Some(free_ns) = unsafe { &*state }.evict_replica(node) {
                states.remove(&address);
                return Some(free_ns);
            }
        }
        None
    }

    /// Discards all replicas of a lost `device`.
    pub(crate) fn lose(&self, node: usize, device: &str) {
        for (_, Listed(state)) in self.states().drain() {
            // SAFETY: as above; the list is locked while it is drained.
            unsafe { &*state }.lose_replica(node, device);
        }
    }
}
