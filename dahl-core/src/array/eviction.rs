//! Copies that leave a device's memory: to make room for others, or because the device is lost. What becomes of their
//! elements.
//!
//! `COPIES.md` has the invariants C1 to C5 that are named here. Not here: which device makes room, and when (`device`), and
//! which array's copy goes first (`device::register`).

use std::sync::Arc;

use super::copies::{Copies, List};
use super::state::ArrayState;
use crate::device::{Copied, FetchError, Rank};
use crate::error::Failure;
use crate::memory::HOME;

impl Copies {
    fn rank(&self, list: &List, place: usize) -> Rank {
        let valid_elsewhere = || {
            self.is_home()
                || list.landing.is_some()
                || list.copies.iter().enumerate().any(|(other, copy)| other != place && copy.valid)
        };
        match list.copies[place].valid {
            false => Rank::Invalid,
            true if valid_elsewhere() => Rank::Clean,
            true => Rank::Dirty,
        }
    }
}

impl Copied for ArrayState {
    fn eviction_key(&self, node: usize) -> Option<(Rank, u64)> {
        let list = self.copies.list();
        let place = list.place(node)?;
        let copy = &list.copies[place];
        (copy.pins == 0).then(|| (self.copies.rank(&list, place), copy.used))
    }

    fn evict_copy(&self, node: usize) -> Option<u64> {
        let mut guard = self.copies.list();
        let list = &mut *guard;
        let Some(place) = list.place(node) else { return Some(0) };
        let mut free_ns = 0;
        if self.copies.rank(list, place) == Rank::Dirty {
            // Of a CUDA device they land, and the room is freed when that is done (D3).
            let came_home = match self.begin_landing(list) {
                Ok(Some(_)) => Ok(()),
                Ok(None) => self.bring_home(list),
                Err(error) => Err(error),
            };
            match came_home {
                Ok(()) => {}
                // Only the call went wrong: the device has the elements still.
                Err(FetchError::Device { error: Some(error), .. }) if !error.is_loss() => return None,
                Err(error) => list.lost = Some((self.loss(list, &error.to_string()), false)),
            }
            free_ns = self.copies.arrived_ns(HOME);
        }
        list.copies.swap_remove(place);
        Some(free_ns)
    }

    fn lose_copy(&self, node: usize, device: &str) {
        let mut guard = self.copies.list();
        let list = &mut *guard;
        let Some(place) = list.place(node) else { return };
        // One that is under way from another device ends yet.
        if list.landing.as_ref().is_some_and(|landing| landing.is_passed().is_err()) {
            list.landing = None;
        }
        list.copies.swap_remove(place);
        let is_somewhere =
            self.copies.is_home() || list.landing.is_some() || list.copies.iter().any(|copy| copy.valid);
        if !is_somewhere && list.lost.is_none() {
            list.lost = Some((self.loss(list, &format!("`{device}`")), false));
        }
    }
}

impl ArrayState {
    /// What is left of elements that were in the memory of `device` alone.
    pub(super) fn loss(&self, list: &List, device: &str) -> Arc<Failure> {
        let writer = list.writer.expect("elements that are valid on a device alone were written on one");
        let message = format!("array #{} was in the memory of {device} alone", self.known_as());
        Arc::new(
            Failure::new(writer.name, device.trim_matches('`').to_owned(), writer.location, message).lost(),
        )
    }
}
