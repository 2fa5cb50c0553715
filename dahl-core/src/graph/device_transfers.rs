//! Replicas in the memory of CUDA devices: what their streams do with them, and in-flight copies to the host
//! ([`HostFetch`]).
//!
//! `dahl-driver/README.md` states the invariants D1 to D6 that comments here name, `REPLICAS.md` C1 to C5.
#![allow(unsafe_code, reason = "copies elements between memory nodes")]

use std::sync::Arc;

use super::replicas::{List, Replica};
use super::state::ArrayState;
use crate::cuda::{Allocation, CudaError, Event, HostFetch, Moved};
use crate::device::{FetchError, Room};
use crate::machine::Transfer;
use crate::memory::HOME;
use crate::sync::atomic::Ordering;

impl ArrayState {
    /// Records that the device of memory node `node` uses its replica up to `event`.
    #[cfg_attr(
        any(dahl_fuzz, not(feature = "cuda")),
        expect(dead_code, reason = "there are no such devices")
    )]
    pub(crate) fn stamp(&self, node: usize, event: &Event, wrote: bool) {
        let mut list = self.replicas.list();
        let Some(place) = list.place(node) else { return };
        if let Room::Cuda(allocation) = &mut list.replicas[place].room {
            allocation.leave_compute(event, wrote);
        }
    }

    /// Calls `fill` to write the elements at `node`, for a task that has fetched them to write there.
    #[cfg_attr(
        any(dahl_fuzz, not(feature = "cuda")),
        expect(dead_code, reason = "there are no such devices")
    )]
    pub(crate) fn fill_replica(&self, node: usize, fill: impl FnOnce(&mut [u8])) -> Result<(), FetchError> {
        self.change_replica(node, |allocation| {
            allocation.fill(self.bytes(), fill)?;
            allocation.enter_compute(true)
        })
    }

    /// The same for elements that repeat `word`: the device writes them.
    #[cfg_attr(
        any(dahl_fuzz, not(feature = "cuda")),
        expect(dead_code, reason = "there are no such devices")
    )]
    pub(crate) fn set_replica(&self, node: usize, word: u32) -> Result<(), FetchError> {
        self.change_replica(node, |allocation| allocation.set(self.bytes(), word))
    }

    fn change_replica(
        &self,
        node: usize,
        change: impl FnOnce(&mut Allocation) -> Result<(), CudaError>,
    ) -> Result<(), FetchError> {
        let mut list = self.replicas.list();
        let place = list.place(node).ok_or(FetchError::Device { node, error: None })?;
        let Room::Cuda(allocation) = &mut list.replicas[place].room else { return Ok(()) };
        change(allocation).map_err(|error| FetchError::Device { node, error: Some(error) })
    }

    /// Replaces the memory of the replica at `node` by `room`, which has the elements; a task uses the replica and
    /// writes it.
    #[cfg_attr(
        any(dahl_fuzz, not(feature = "cuda")),
        expect(dead_code, reason = "there are no such devices")
    )]
    pub(crate) fn replace_room(&self, node: usize, room: Room) {
        let mut list = self.replicas.list();
        if let Some(place) = list.place(node) {
            list.replicas[place].room = room;
        }
    }

    /// As [`bring_to`](Self::bring_to), for a CUDA device: the copy is in flight when this returns, and later uses by
    /// its device wait for it (D2).
    pub(super) fn send_to(&self, place: usize, list: &mut List) -> Result<(), FetchError> {
        // A fetch that has failed is no location: then the elements are in another replica, or lost.
        if !self.replicas.is_home()
            && let Some(host_fetch) = list.host_fetch.clone()
            && let Err(error) = host_fetch.is_passed()
        {
            self.end_host_fetch(list, &host_fetch, Err(error))?;
        }
        let node = list.replicas[place].node;
        let (from, moved) = if self.replicas.is_home() {
            let home = self.home_operand();
            let Room::Cuda(to) = &mut list.replicas[place].room else { return Ok(()) };
            let bytes = home.layout.len() * home.element.size_bytes;
            let moved = to.upload(bytes, home.layout.is_contiguous(), |start, piece| {
                // SAFETY: home is valid and the caller of `fetch` holds an access, so nothing writes it (C2) before this
                // returns (D4); pieces are of contiguous elements alone, and lie within them.
                unsafe { home.pack_bytes(start, piece) };
            });
            (HOME, moved)
        } else if let Some(host_fetch) = &list.host_fetch {
            // They are on their way home: the stream waits for them, and this thread does not.
            let Room::Cuda(to) = &mut list.replicas[place].room else { return Ok(()) };
            (HOME, to.upload_fetched(host_fetch))
        } else {
            let source = self.valid_replica(list)?;
            let from = list.replicas[source].node;
            let Ok([source, to]) = list.replicas.get_disjoint_mut([source, place]) else { return Ok(()) };
            let (Room::Cuda(source), Room::Cuda(to)) = (&mut source.room, &mut to.room) else {
                return Ok(());
            };
            // An error of the source's device must not be blamed on the other device.
            source.check().map_err(|error| FetchError::Device { node: from, error: Some(error) })?;
            (from, to.copy_from(source, self.bytes()))
        };
        let moved = moved.map_err(|error| FetchError::Device { node, error: Some(error) })?;
        self.note_moved(from, node, moved);
        list.replicas[place].valid = true;
        Ok(())
    }

    /// Starts fetching elements home that only a CUDA device has; none for a simulated device.
    pub(super) fn begin_host_fetch(&self, list: &mut List) -> Result<Option<Arc<HostFetch>>, FetchError> {
        if let Some(host_fetch) = &list.host_fetch {
            return Ok(Some(Arc::clone(host_fetch)));
        }
        let source = self.valid_replica(list)?;
        let may_split = self.home_operand().layout.is_contiguous();
        let Replica { node, room, .. } = &mut list.replicas[source];
        let node = *node;
        let Room::Cuda(source) = room else { return Ok(None) };
        let (host_fetch, moved) = source
            .download(self.bytes(), may_split)
            .map_err(|error| FetchError::Device { node, error: Some(error) })?;
        let host_fetch = Arc::new(host_fetch);
        list.host_fetch = Some(Arc::clone(&host_fetch));
        self.note_moved(node, HOME, moved);
        Ok(Some(host_fetch))
    }

    /// Makes home valid with the elements of a `HostFetch`. The caller holds an access.
    pub(super) fn end_host_fetch(
        &self,
        list: &mut List,
        host_fetch: &Arc<HostFetch>,
        fetched: Result<(), CudaError>,
    ) -> Result<(), FetchError> {
        if !list.host_fetch.as_ref().is_some_and(|own| Arc::ptr_eq(own, host_fetch)) {
            return Ok(()); // another thread was first
        }
        list.host_fetch = None;
        let home = self.home_operand();
        let fetched = fetched.and_then(|()| {
            host_fetch.read(|start, piece| {
                // SAFETY: home is not valid, so nobody else touches it (C3): the list is locked; pieces are of contiguous
                // elements alone (`begin_host_fetch`), and lie within them.
                unsafe { home.unpack_bytes(start, piece) };
            })
        });
        if let Err(error) = fetched {
            if !list.replicas.iter().any(|replica| replica.valid) && list.lost.is_none() {
                list.lost = Some((self.loss(list, &format!("a device that failed: {error}")), false));
            }
            return self.valid_replica(list).map(|_| ());
        }
        self.replicas.away.store(false, Ordering::Release);
        Ok(())
    }

    /// Starts fetching elements home if only a CUDA device has them, for a caller that will read them there. Returns the
    /// fetch if it has not ended.
    pub(crate) fn fetch_async(&self) -> Option<Arc<HostFetch>> {
        if !self.is_away() {
            return None;
        }
        let mut list = self.replicas.list();
        if self.replicas.is_home() {
            return None; // another reader has fetched them meanwhile
        }
        if let Some(host_fetch) = &list.host_fetch {
            return matches!(host_fetch.is_passed(), Ok(false)).then(|| Arc::clone(host_fetch));
        }
        // An error is returned again where the elements are waited for.
        self.begin_host_fetch(&mut list).ok()?
    }

    /// Makes home valid with the elements of a `HostFetch` that has ended, if there is one. The caller holds an access.
    pub(super) fn land(&self) {
        let mut list = self.replicas.list();
        if let Some(host_fetch) = list.host_fetch.clone().filter(|_| !self.replicas.is_home())
            && matches!(host_fetch.is_passed(), Ok(true))
        {
            // It does not fail.
            let _ = self.end_host_fetch(&mut list, &host_fetch, Ok(()));
        }
    }

    pub(super) fn note_moved(&self, from: usize, to: usize, moved: Moved) {
        if self.bytes() > 0 {
            let transfer = Transfer { array: self.known_as(), from, to, bytes: self.bytes() };
            self.host().devices().expect("there are other memory nodes").begin(transfer, moved);
        }
    }
}
