//! [`Register`]: the arrays that have replicas in a device's memory, and which of these is evicted next.
//!
//! It knows arrays only through the trait [`Copied`].
//!
//! **Locks.** A thread locks a register before the replicas of an array, never after.
#![allow(unsafe_code, reason = "knows states that take themselves off before they are freed")]

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::ptr;

use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{Mutex, MutexGuard};

/// Which replicas make room first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    Invalid,
    /// Valid, here and elsewhere.
    Clean,
    /// Valid here alone: it must be written back.
    Dirty,
}

/// An array that has replicas in the memories of devices.
pub(crate) trait Copied: Send + Sync {
    /// How soon the replica at `node` makes room, the smallest first; nothing while a task uses it.
    fn eviction_key(&self, node: usize) -> Option<(Rank, u64)>;

    /// Frees the replica at `node`; if it is the only valid one, home gets its elements. When its room is free.
    ///
    /// Nothing if home cannot get them now, for want of a staging buffer: then the replica stays as it is.
    fn evict_replica(&self, node: usize) -> Option<u64>;

    /// Forgets the replica at `node`, whose `device` is lost.
    fn lose_replica(&self, node: usize, device: &str);
}

/// The arrays that have replicas in a device's memory.
#[derive(Debug, Default)]
pub(crate) struct Register {
    /// By their addresses.
    states: Mutex<HashMap<*const (), Listed>>,
    /// Uses of replicas so far.
    uses: AtomicU64,
}

/// An array on the list.
#[derive(Clone, Copy)]
struct Listed(*const dyn Copied);

impl std::fmt::Debug for Listed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Pointer::fmt(&self.0, f)
    }
}

// SAFETY: the states that the pointers lead to take themselves off the list, under its lock, before they are freed (who
// calls `add` sees to it); they may be used by any thread, as `Copied` asks.
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

    /// Adds a state if `add_replica` has added a replica to it. Who loses the device, or evicts, sees both or neither.
    ///
    /// # Safety
    /// The state is [removed](Self::remove) before it is freed.
    pub(crate) unsafe fn add(&self, state: &(dyn Copied + 'static), add_replica: impl FnOnce() -> bool) {
        let mut states = self.states();
        if add_replica() {
            let state = ptr::from_ref(state);
            states.insert(state.cast(), Listed(state));
        }
    }

    pub(crate) fn remove(&self, state: &(dyn Copied + 'static)) {
        self.states().remove(&ptr::from_ref(state).cast());
    }

    /// Frees a replica that no task uses: one that is not valid before one that is valid elsewhere too, that before one
    /// that must be written back, and of these the one that was not used for longest; the next one where home cannot get
    /// its elements now. When its room is free; nothing if there is none that can go.
    pub(crate) fn evict(&self, node: usize) -> Option<u64> {
        let mut states = self.states();
        let key = |(&address, &Listed(state)): (&*const (), &Listed)| {
            // SAFETY: states take themselves off the list before they are freed (`add`), under its lock, which is held.
            let state = unsafe { &*state };
            state.eviction_key(node).map(|key| Reverse((key, address)))
        };
        let mut candidates: BinaryHeap<_> = states.iter().filter_map(key).collect();
        while let Some(Reverse((_, address))) = candidates.pop() {
            let Some(&Listed(state)) = states.get(&address) else { continue };
            // SAFETY: as above; the list is locked still.
            if let Some(free_ns) = unsafe { &*state }.evict_replica(node) {
                states.remove(&address);
                return Some(free_ns);
            }
        }
        None
    }

    /// Forgets all replicas, when `device` is lost.
    pub(crate) fn lose(&self, node: usize, device: &str) {
        for (_, Listed(state)) in self.states().drain() {
            // SAFETY: as above; the list is locked while it is drained.
            unsafe { &*state }.lose_replica(node, device);
        }
    }
}
