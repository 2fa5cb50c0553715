//! [`Replicas`]: the replicas of an array in device memories, if there are devices.
//!
//! An array's *home* is the buffer in main memory that it was created with; a part's home lies within that of its
//! whole. Besides, there may be one replica in each device's memory: contiguous, in row-major order. Home and each
//! replica are valid or invalid. In the terms of cache coherence: the *owner* is the only valid location, several valid
//! ones are *shared*, the others are *invalid*.
//!
//! `REPLICAS.md`, beside this file, states the invariants C1 to C5 that comments here name, and argues for each.
//!
//! Not here: which replicas are evicted (`device::register`), what happens to their elements (`eviction`), how long a
//! transfer takes (`device`), and what the streams of CUDA devices do (`device_transfers`).
#![allow(unsafe_code, reason = "copies elements between memory nodes")]

use std::sync::Arc;

use crate::cuda::HostFetch;
use crate::device::{Requester, Room};
use crate::error::Failure;
use crate::memory::HOME;
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use crate::sync::{Mutex, MutexGuard};

/// The replicas of an array in device memories.
#[derive(Debug, Default)]
pub(crate) struct Replicas {
    /// Whether there has been a replica: read by every access at home.
    pub(super) any: AtomicBool,
    /// Whether home is not valid. It changes under the lock.
    pub(super) away: AtomicBool,
    /// When the last transfer to home ends.
    pub(super) home_ns: AtomicU64,
    list: Mutex<List>,
}

#[derive(Debug, Default)]
pub(super) struct List {
    pub(super) replicas: Vec<Replica>,
    /// The elements of a CUDA device in flight to home: a valid location like a replica (D5).
    pub(super) host_fetch: Option<Arc<HostFetch>>,
    /// The last writer of the elements, if it was on a device.
    pub(super) writer: Option<Requester>,
    /// If no elements are valid any more because a device was lost: the failure, and whether it was recorded.
    pub(super) lost: Option<(Arc<Failure>, bool)>,
}

/// Elements in a device's memory.
#[derive(Debug)]
pub(super) struct Replica {
    pub(super) node: usize,
    pub(super) room: Room,
    pub(super) valid: bool,
    /// The number of tasks that use it.
    pub(super) pins: u32,
    /// When the last transfer to it ends, and the previous use of its block.
    pub(super) arrived_ns: u64,
    /// Its last use, by the device's counter.
    pub(super) used: u64,
}

/// Whether elements are read, and whether they are changed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Use {
    pub(super) reads: bool,
    /// The access is exclusive: no other replica stays valid.
    pub(super) exclusive: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poison| poison.into_inner())
}

impl List {
    pub(super) fn place(&self, node: usize) -> Option<usize> {
        self.replicas.iter().position(|replica| replica.node == node)
    }

    pub(super) fn invalidate(&mut self) {
        self.replicas.iter_mut().for_each(|replica| replica.valid = false);
        self.host_fetch = None;
        self.lost = None;
    }
}

impl Replicas {
    pub(super) fn list(&self) -> MutexGuard<'_, List> {
        lock(&self.list)
    }

    /// Whether home may be read.
    pub(super) fn is_home(&self) -> bool {
        !self.away.load(Ordering::Acquire)
    }

    /// Whether there may be replicas.
    pub(super) fn may_exist(&self) -> bool {
        self.any.load(Ordering::Acquire)
    }

    /// When the elements at `node` arrive, if they are in flight.
    pub(crate) fn arrived_ns(&self, node: usize) -> u64 {
        if node == HOME {
            return self.home_ns.load(Ordering::Relaxed);
        }
        let list = self.list();
        list.place(node).map_or(0, |place| list.replicas[place].arrived_ns)
    }

    /// Delays accesses at home until `time_ns`.
    pub(crate) fn delay(&self, time_ns: u64) {
        self.home_ns.fetch_max(time_ns, Ordering::Relaxed);
    }

    /// Makes home valid and every replica invalid: the elements are now determined at home. The caller's access is
    /// exclusive, or it is the reader that resolves the content.
    pub(crate) fn stay_home(&self) {
        if self.may_exist() {
            let mut list = self.list();
            list.invalidate();
            self.away.store(false, Ordering::Release);
        }
    }

    /// Lets a task's replica be evicted.
    pub(super) fn unpin(&self, node: usize) {
        let mut list = self.list();
        if let Some(place) = list.place(node) {
            list.replicas[place].pins -= 1;
        }
    }
}
