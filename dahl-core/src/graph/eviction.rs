//! Replicas that leave a device's memory, to make room for others or because the device is lost, and what happens to
//! their elements.
//!
//! `REPLICAS.md` states the invariants C1 to C5 that comments here name. Not here: which device makes room, and when
//! (`device`), and which array's replica is evicted first (`device::register`).

use std::sync::Arc;

use super::replicas::{List, Replicas};
use super::state::ArrayState;
use crate::device::{Evictable, FetchError, Rank};
use crate::error::Failure;
use crate::memory::HOME;

impl Replicas {
    fn rank(&self, list: &List, place: usize) -> Rank {
        let valid_elsewhere = || {
            self.is_home()
                || list.host_fetch.is_some()
                || list.replicas.iter().enumerate().any(|(other, replica)| other != place && replica.valid)
        };
        match list.replicas[place].valid {
            false => Rank::Invalid,
            true if valid_elsewhere() => Rank::Clean,
            true => Rank::Dirty,
        }
    }
}

impl Evictable for ArrayState {
    fn eviction_key(&self, node: usize) -> Option<(Rank, u64)> {
        let list = self.replicas.list();
        let place = list.place(node)?;
        let replica = &list.replicas[place];
        (replica.pins == 0).then(|| (self.replicas.rank(&list, place), replica.used))
    }

    fn evict_replica(&self, node: usize) -> Option<u64> {
        let mut guard = self.replicas.list();
        let list = &mut *guard;
        let Some(place) = list.place(node) else { return Some(0) };
        let mut free_ns = 0;
        if self.replicas.rank(list, place) == Rank::Dirty {
            // A CUDA device copies them to the host, and the memory is freed after that (D3).
            let came_home = match self.begin_host_fetch(list) {
                Ok(Some(_)) => Ok(()),
                Ok(None) => self.bring_home(list),
                Err(error) => Err(error),
            };
            match came_home {
                Ok(()) => {}
                // Only this call failed: the device still has the elements.
                Err(FetchError::Device { error: Some(error), .. }) if !error.is_loss() => return None,
                Err(error) => list.lost = Some((self.loss(list, &error.to_string()), false)),
            }
            free_ns = self.replicas.arrived_ns(HOME);
        }
        list.replicas.swap_remove(place);
        Some(free_ns)
    }

    fn lose_replica(&self, node: usize, device: &str) {
        let mut guard = self.replicas.list();
        let list = &mut *guard;
        let Some(place) = list.place(node) else { return };
        // A copy in flight from another device still completes.
        if list.host_fetch.as_ref().is_some_and(|host_fetch| host_fetch.is_passed().is_err()) {
            list.host_fetch = None;
        }
        list.replicas.swap_remove(place);
        let is_somewhere = self.replicas.is_home()
            || list.host_fetch.is_some()
            || list.replicas.iter().any(|replica| replica.valid);
        if !is_somewhere && list.lost.is_none() {
            list.lost = Some((self.loss(list, &format!("`{device}`")), false));
        }
    }
}

impl ArrayState {
    /// The failure of elements that only the memory of `device` had.
    pub(super) fn loss(&self, list: &List, device: &str) -> Arc<Failure> {
        let writer = list.writer.expect("elements that are valid on a device alone were written on one");
        let message = format!("array #{} was in the memory of {device} alone", self.known_as());
        Arc::new(
            Failure::new(writer.name, device.trim_matches('`').to_owned(), writer.location, message).lost(),
        )
    }
}
