//! Brings an array's elements to the memory node of an access: home, or a replica in a device's memory.
//!
//! `REPLICAS.md` states the invariants C1 to C5 that comments here name.
#![allow(unsafe_code, reason = "copies elements between memory nodes")]

use std::ptr;
use std::sync::Arc;

use super::replicas::{List, Replica, Use};
use super::state::ArrayState;
use crate::codelet::Operand;
use crate::device::{DeviceMemory, FetchError, Requester, Room};
use crate::machine::Transfer;
use crate::memory::{HOME, Holder};
use crate::sync::atomic::Ordering;

impl ArrayState {
    /// If the elements are not at memory node `node`: the node that they would be copied from, and their bytes.
    pub(crate) fn missing_at(&self, node: usize) -> Option<(usize, usize)> {
        let from = if !self.replicas.may_exist() {
            HOME
        } else {
            let list = self.replicas.list();
            let is_home = self.replicas.is_home();
            let mut valid = list.replicas.iter().filter(|replica| replica.valid).map(|replica| replica.node);
            if (is_home && node == HOME) || valid.clone().any(|other| other == node) {
                return None;
            }
            if is_home || list.host_fetch.is_some() { HOME } else { valid.next()? }
        };
        (from != node).then(|| (from, self.bytes()))
    }

    /// Whether only devices have the elements.
    pub(super) fn is_away(&self) -> bool {
        self.replicas.may_exist() && !self.replicas.is_home()
    }

    /// Makes elements available at `node`, for a task that holds an access. A replica is pinned.
    ///
    /// # Safety
    /// The caller holds an access, exclusive if `how` says so.
    pub(super) unsafe fn fetch(
        &self,
        node: usize,
        how: Use,
        requester: Requester,
    ) -> Result<*mut u8, FetchError> {
        if node == HOME {
            return self.fetch_home(how);
        }
        let device = self.host().devices().expect("there are other memory nodes").memory(node);
        self.make_replica(device, how, requester)?;
        let mut guard = self.replicas.list();
        let list = &mut *guard;
        // It was just created, and nothing evicts while a task is issued; but another thread may have lost the device.
        let place = list.place(node).ok_or(FetchError::Device { node, error: None })?;
        if how.reads && !list.replicas[place].valid {
            self.bring_to(place, list)?;
        }
        if let Room::Cuda(allocation) = &mut list.replicas[place].room {
            let entered = allocation.enter_compute(how.exclusive);
            entered.map_err(|error| FetchError::Device { node, error: Some(error) })?;
        }
        if how.exclusive {
            list.invalidate();
            list.writer = Some(requester);
            self.replicas.away.store(true, Ordering::Release);
        }
        let replica = &mut list.replicas[place];
        (replica.valid, replica.used) = (true, device.register.tick());
        replica.pins += 1;
        Ok(replica.room.pointer())
    }

    /// Copies the elements to the device's memory `node`, if they are available and memory is free without evictions.
    ///
    /// # Safety
    /// The caller holds an access.
    pub(crate) unsafe fn prefetch(&self, node: usize, requester: Requester) {
        let devices = self.host().devices().expect("there are other memory nodes");
        let device = devices.memory(node);
        if !self.is_ready() || devices.is_lost(node - 1) {
            return;
        }
        if self.replicas.list().place(node).is_none() {
            let holder = Holder::new("copies", requester.location);
            let Ok(Some(room)) = device.try_room(self.bytes(), holder, true) else { return };
            self.add_replica(device, room, 0);
        }
        let mut guard = self.replicas.list();
        let list = &mut *guard;
        if list.lost.is_some() {
            return; // that comes out where the task runs
        }
        if let Some(place) = list.place(node).filter(|&place| !list.replicas[place].valid) {
            list.replicas[place].used = device.register.tick();
            // An error is returned again when the task runs.
            let _ = self.bring_to(place, list);
        }
    }

    /// Adds an invalid replica in the memory of `device`, unless another thread has done so meanwhile.
    fn add_replica(&self, device: &DeviceMemory, room: Room, arrived_ns: u64) {
        let node = device.node();
        let add_replica = || {
            let is_lost = self.host().devices().is_none_or(|devices| devices.is_lost(node - 1));
            let mut list = self.replicas.list();
            if is_lost || list.place(node).is_some() {
                return false;
            }
            list.replicas.push(Replica { node, room, valid: false, pins: 0, arrived_ns, used: 0 });
            self.replicas.any.store(true, Ordering::Release);
            true
        };
        // SAFETY: `forget_replicas`, which is called before a state is freed, removes it.
        unsafe { device.register.add(self, add_replica) };
    }

    /// As [`fetch`](Self::fetch), in the main memory.
    fn fetch_home(&self, how: Use) -> Result<*mut u8, FetchError> {
        let mut list = self.replicas.list();
        while how.reads && !self.replicas.is_home() {
            match self.begin_host_fetch(&mut list)? {
                None => self.bring_home(&mut list)?,
                Some(host_fetch) => {
                    drop(list); // others may look at it while this thread waits
                    let fetched = host_fetch.wait();
                    list = self.replicas.list();
                    self.end_host_fetch(&mut list, &host_fetch, fetched)?;
                }
            }
        }
        if how.exclusive {
            list.invalidate();
        }
        self.replicas.away.store(false, Ordering::Release);
        Ok(self.pointer())
    }

    /// Creates a replica in the memory of `device`, valid or not, unless there is one.
    fn make_replica(&self, device: &DeviceMemory, how: Use, requester: Requester) -> Result<(), FetchError> {
        if self.replicas.list().place(device.node()).is_some() {
            return Ok(());
        }
        let holder = Holder::new("copies", requester.location);
        let (room, free_ns) = device.room(self.bytes(), holder, how.reads)?;
        self.add_replica(device, room, free_ns);
        Ok(())
    }

    /// Makes replica `place` of the list valid.
    fn bring_to(&self, place: usize, list: &mut List) -> Result<(), FetchError> {
        if matches!(list.replicas[place].room, Room::Cuda(_)) {
            return self.send_to(place, list);
        }
        let (node, to) = (list.replicas[place].node, list.replicas[place].room.pointer());
        let (from, there_ns) = if self.replicas.is_home() {
            // SAFETY: home is valid and the caller of `fetch` holds an access, so nothing writes it (C2); the replica
            // is not valid, so nothing else accesses it (C3), and it has as many bytes.
            unsafe { self.home_operand().pack_into(to) };
            (HOME, self.replicas.arrived_ns(HOME))
        } else {
            let source = self.valid_replica(list)?;
            let source = &list.replicas[source];
            // SAFETY: as above, for the source; both are different blocks of at least so many bytes.
            unsafe { ptr::copy_nonoverlapping(source.room.pointer(), to, self.bytes()) };
            (source.node, source.arrived_ns)
        };
        let replica = &mut list.replicas[place];
        replica.arrived_ns =
            replica.arrived_ns.max(self.charge(from, node, there_ns.max(replica.arrived_ns)));
        replica.valid = true;
        Ok(())
    }

    /// Makes home valid, for a simulated device.
    pub(super) fn bring_home(&self, list: &mut List) -> Result<(), FetchError> {
        let source = self.valid_replica(list)?;
        let source = &list.replicas[source];
        // SAFETY: the source is valid and the caller holds an access, or evicts it while no task uses it, so nothing
        // writes it (C2, C4); home is not valid, so nothing else accesses it (C3).
        unsafe { self.home_operand().unpack_from(source.room.pointer()) };
        self.replicas.delay(self.charge(source.node, HOME, source.arrived_ns));
        self.replicas.away.store(false, Ordering::Release);
        Ok(())
    }

    /// The first replica that is valid.
    pub(super) fn valid_replica(&self, list: &mut List) -> Result<usize, FetchError> {
        if let Some(place) = list.replicas.iter().position(|replica| replica.valid) {
            return Ok(place);
        }
        let (failure, noted) = list.lost.as_mut().expect("elements are valid somewhere, or lost");
        if !std::mem::replace(noted, true) {
            self.host().note_failure(failure);
        }
        Err(FetchError::Poisoned(Arc::clone(failure)))
    }

    /// Counts a transfer of the elements, which are at `from` at `there_ns`. Returns its end.
    fn charge(&self, from: usize, to: usize, there_ns: u64) -> u64 {
        if self.bytes() == 0 {
            return there_ns;
        }
        let transfer = Transfer { array: self.known_as(), from, to, bytes: self.bytes() };
        self.host().devices().expect("there are other memory nodes").charge(transfer, there_ns)
    }

    /// The elements at home.
    pub(super) fn home_operand(&self) -> Operand {
        let (element, layout) = self.home_layout();
        Operand { pointer: self.pointer(), layout, element, writes: true, reads: true }
    }

    /// Discards all replicas when the array is freed.
    pub(super) fn forget_replicas(&self) {
        if !self.replicas.may_exist() {
            return;
        }
        let nodes: Vec<usize> = self.replicas.list().replicas.iter().map(|replica| replica.node).collect();
        for node in nodes {
            self.host().devices().expect("there are other memory nodes").memory(node).register.remove(self);
        }
        let mut list = self.replicas.list();
        *list = List::default();
        self.replicas.away.store(false, Ordering::Release);
        self.replicas.any.store(false, Ordering::Release);
        self.replicas.home_ns.store(0, Ordering::Relaxed);
    }
}
