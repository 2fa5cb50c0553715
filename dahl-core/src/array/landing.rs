//! Copies in the memory of CUDA devices: what their streams do with them, and elements on their way home ([`Landing`]).
//!
//! `cuda/README.md` has the invariants D1 to D6 that are named here, `COPIES.md` C1 to C5.
#![allow(unsafe_code, reason = "copies elements between memory nodes")]

use std::sync::Arc;

use super::copies::{Copy, List};
use super::state::ArrayState;
use crate::cuda::{Allocation, CudaError, Landing, Mark, Moved};
use crate::device::{FetchError, Room};
use crate::machine::Transfer;
use crate::memory::HOME;
use crate::sync::atomic::Ordering;

impl ArrayState {
    /// Notes what the device of memory node `node` has been given to do with its copy, up to `mark`.
    #[cfg_attr(
        any(dahl_fuzz, not(feature = "cuda")),
        expect(dead_code, reason = "there are no such devices")
    )]
    pub(crate) fn stamp(&self, node: usize, mark: &Mark, wrote: bool) {
        let mut list = self.copies.list();
        let Some(place) = list.place(node) else { return };
        if let Room::Cuda(allocation) = &mut list.copies[place].room {
            allocation.leave_compute(mark, wrote);
        }
    }

    /// Lets the elements at `node` be what `fill` writes, for a task that has fetched them to write there.
    #[cfg_attr(
        any(dahl_fuzz, not(feature = "cuda")),
        expect(dead_code, reason = "there are no such devices")
    )]
    pub(crate) fn fill_copy(&self, node: usize, fill: impl FnOnce(&mut [u8])) -> Result<(), FetchError> {
        self.change_copy(node, |allocation| {
            allocation.fill(self.bytes(), fill)?;
            allocation.enter_compute(true)
        })
    }

    /// The same, of elements that are `word` again and again: the device writes them.
    #[cfg_attr(
        any(dahl_fuzz, not(feature = "cuda")),
        expect(dead_code, reason = "there are no such devices")
    )]
    pub(crate) fn set_copy(&self, node: usize, word: u32) -> Result<(), FetchError> {
        self.change_copy(node, |allocation| allocation.set(self.bytes(), word))
    }

    fn change_copy(
        &self,
        node: usize,
        change: impl FnOnce(&mut Allocation) -> Result<(), CudaError>,
    ) -> Result<(), FetchError> {
        let mut list = self.copies.list();
        let place = list.place(node).ok_or(FetchError::Device { node, error: None })?;
        let Room::Cuda(allocation) = &mut list.copies[place].room else { return Ok(()) };
        change(allocation).map_err(|error| FetchError::Device { node, error: Some(error) })
    }

    /// Changes the copy at `node`, which a task uses that writes it: its room becomes `room`, whose elements these are.
    #[cfg_attr(
        any(dahl_fuzz, not(feature = "cuda")),
        expect(dead_code, reason = "there are no such devices")
    )]
    pub(crate) fn replace_room(&self, node: usize, room: Room) {
        let mut list = self.copies.list();
        if let Some(place) = list.place(node) {
            list.copies[place].room = room;
        }
    }

    /// As [`bring_to`](Self::bring_to), of a CUDA device: the copy is under way when this returns, and what its device
    /// is given to do with it waits for it (D2).
    pub(super) fn send_to(&self, place: usize, list: &mut List) -> Result<(), FetchError> {
        if !self.copies.is_home()
            && let Some(landing) = list.landing.clone()
        {
            let landed = landing.wait();
            self.end_landing(list, &landing, landed)?;
        }
        let node = list.copies[place].node;
        let (from, moved) = if self.copies.is_home() {
            let home = self.home_operand();
            let Room::Cuda(to) = &mut list.copies[place].room else { return Ok(()) };
            // SAFETY: home is valid and the caller of `fetch` holds an access, so nobody writes it (C2) before this
            // returns (D4); the copy has as many bytes.
            (HOME, unsafe { to.upload(&home) })
        } else {
            let source = self.valid_copy(list)?;
            let from = list.copies[source].node;
            let Ok([source, to]) = list.copies.get_disjoint_mut([source, place]) else { return Ok(()) };
            let (Room::Cuda(source), Room::Cuda(to)) = (&mut source.room, &mut to.room) else {
                return Ok(());
            };
            // What went wrong on the source's device is not the fault of the other one.
            source.check().map_err(|error| FetchError::Device { node: from, error: Some(error) })?;
            (from, to.copy_from(source, self.bytes()))
        };
        let moved = moved.map_err(|error| FetchError::Device { node, error: Some(error) })?;
        self.note_moved(from, node, moved);
        list.copies[place].valid = true;
        Ok(())
    }

    /// Begins to bring elements home that are not there, if a CUDA device has them; nothing if it is a simulated one.
    pub(super) fn begin_landing(&self, list: &mut List) -> Result<Option<Arc<Landing>>, FetchError> {
        if let Some(landing) = &list.landing {
            return Ok(Some(Arc::clone(landing)));
        }
        let source = self.valid_copy(list)?;
        let may_split = self.home_operand().layout.is_contiguous();
        let Copy { node, room, .. } = &mut list.copies[source];
        let node = *node;
        let Room::Cuda(source) = room else { return Ok(None) };
        let (landing, moved) = source
            .download(self.bytes(), may_split)
            .map_err(|error| FetchError::Device { node, error: Some(error) })?;
        let landing = Arc::new(landing);
        list.landing = Some(Arc::clone(&landing));
        self.note_moved(node, HOME, moved);
        Ok(Some(landing))
    }

    /// Makes home valid with what has landed. The caller holds an access.
    pub(super) fn end_landing(
        &self,
        list: &mut List,
        landing: &Arc<Landing>,
        landed: Result<(), CudaError>,
    ) -> Result<(), FetchError> {
        if !list.landing.as_ref().is_some_and(|own| Arc::ptr_eq(own, landing)) {
            return Ok(()); // another thread was first
        }
        list.landing = None;
        if let Err(error) = landed {
            if !list.copies.iter().any(|copy| copy.valid) && list.lost.is_none() {
                list.lost = Some((self.loss(list, &format!("a device that failed: {error}")), false));
            }
            return self.valid_copy(list).map(|_| ());
        }
        // SAFETY: home is not valid, so nobody else touches it (C3): the list is locked.
        unsafe { landing.copy_to(&self.home_operand()) };
        self.copies.away.store(false, Ordering::Release);
        Ok(())
    }

    /// Begins to bring elements home, if they are with a CUDA device alone and the caller will read them at home.
    pub(crate) fn call_home(&self) {
        if self.copies.may_exist() && !self.copies.is_home() {
            // If that fails, it does so where they are waited for.
            let _ = self.begin_landing(&mut self.copies.list());
        }
    }

    pub(super) fn note_moved(&self, from: usize, to: usize, moved: Moved) {
        if self.bytes() > 0 {
            let transfer = Transfer { array: self.known_as(), from, to, bytes: self.bytes() };
            self.shared().devices().expect("there are other memory nodes").begin(transfer, moved);
        }
    }
}
