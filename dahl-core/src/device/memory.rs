//! [`DeviceMemory`]: a device's memory node, and the replicas in it.

use std::sync::{Arc, PoisonError};

use super::fetch_error::FetchError;
use super::register::Register;
use super::room::Room;
use crate::cuda::{CudaDevice, CudaError, CudaInstance, Moved};
use crate::machine::Transfer;
use crate::memory::{Block, Holder, MemoryNode, Reservation, Shortage};
use crate::sync::Mutex;

/// The memory of a device.
#[derive(Debug)]
pub(crate) struct DeviceMemory {
    node: usize,
    memory: Arc<MemoryNode>,
    pub(crate) register: Register,
    /// The device, if it is a CUDA device.
    cuda: Option<Arc<CudaDevice>>,
    /// Of a CUDA device: copies in flight, or that were until lately.
    in_flight: Mutex<Vec<(Transfer, Moved)>>,
}

impl DeviceMemory {
    pub(crate) fn new(node: usize, memory: MemoryNode, cuda: Option<Arc<CudaDevice>>) -> Self {
        let (memory, register) = (Arc::new(memory), Register::default());
        Self { node, memory, register, cuda, in_flight: Mutex::default() }
    }

    pub(crate) fn node(&self) -> usize {
        self.node
    }

    pub(crate) fn memory(&self) -> &Arc<MemoryNode> {
        &self.memory
    }

    /// The device, if it is a CUDA device.
    pub(crate) fn cuda(&self) -> Option<&Arc<CudaDevice>> {
        self.cuda.as_ref()
    }

    /// Whether it is of a CUDA device that may have the functions of a kernel.
    pub(crate) fn may_load(&self, instance: CudaInstance) -> bool {
        self.cuda.as_ref().is_some_and(|cuda| cuda.may_load(instance.kernel.image, instance.entries()))
    }

    /// Notes that elements are on their way.
    pub(super) fn begin(&self, transfer: Transfer, moved: Moved) {
        self.in_flight.lock().unwrap_or_else(PoisonError::into_inner).push((transfer, moved));
    }

    /// Hands on the transfers that have ended: when each began, and when it ended.
    pub(super) fn take_ended(&self, mut note: impl FnMut(Transfer, u64, u64)) {
        let Some(device) = &self.cuda else { return };
        let mut in_flight = self.in_flight.lock().unwrap_or_else(PoisonError::into_inner);
        in_flight.retain(|(transfer, moved)| match device.moved_ns(moved) {
            Ok(Some((begin_ns, end_ns))) => {
                note(*transfer, begin_ns, end_ns);
                false
            }
            Ok(None) => true,
            Err(_) => false, // the device is lost: it has not ended
        });
    }

    /// Discards everything in it.
    pub(crate) fn lose(&self, device: &str) {
        self.register.lose(self.node, device);
    }

    /// Allocates memory for a replica, and returns when its previous use ends; evicts replicas that no task uses if
    /// necessary. `is_filled`: elements are copied there first, so that no kernel needs to wait for the previous use.
    pub(crate) fn room(
        &self,
        bytes: usize,
        holder: Holder,
        is_filled: bool,
    ) -> Result<(Room, u64), FetchError> {
        let mut free_ns = 0;
        loop {
            if let Some(room) = self.try_room(bytes, holder, is_filled)? {
                return Ok((room, free_ns));
            }
            match self.register.evict(self.node) {
                Some(evicted_ns) => free_ns = free_ns.max(evicted_ns),
                None => return Err(FetchError::Shortage(Shortage::new(&self.memory, bytes))),
            }
        }
    }

    /// Allocates memory if possible without evictions.
    pub(crate) fn try_room(
        &self,
        bytes: usize,
        holder: Holder,
        is_filled: bool,
    ) -> Result<Option<Room>, FetchError> {
        let Some(device) = &self.cuda else {
            return Ok(Block::zeroed(&self.memory, bytes, holder).map(Room::Host));
        };
        let allocate = || -> Result<Option<Room>, CudaError> {
            let Some(room) = Reservation::new(&self.memory, bytes, holder) else { return Ok(None) };
            let allocate = if is_filled { CudaDevice::allocate_for_copy } else { CudaDevice::allocate };
            match allocate(device, room.bytes(), room) {
                Ok(allocation) => {
                    self.memory.note_peak();
                    Ok(Some(Room::Cuda(allocation)))
                }
                Err(error) if error.is_out_of_memory() => Ok(None),
                Err(error) => Err(error),
            }
        };
        let in_use = self.memory.reserved_bytes() > 0;
        let room = match allocate() {
            // Within the limit, but not available: waits for pending frees.
            Ok(None) if in_use && self.memory.has_room(bytes) => {
                device.synchronize().and_then(|()| allocate())
            }
            room => room,
        };
        room.map_err(|error| FetchError::Device { node: self.node, error: Some(error) })
    }
}
