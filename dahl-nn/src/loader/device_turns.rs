//! [`DeviceTurns`]: the devices in turn, as the places that parts of batches are prefetched to.

use dahl::prelude::*;

/// The workers of devices, one after the other. A part that then runs elsewhere is copied there; results do not depend on
/// it.
#[derive(Debug)]
pub(crate) struct DeviceTurns {
    /// The workers.
    devices: Vec<usize>,
    /// The index of the next one.
    turn: usize,
}

impl DeviceTurns {
    /// Those of the runtime of `arena`.
    pub(crate) fn new(arena: &Arena) -> Self {
        let workers = arena.worker_infos().iter().enumerate();
        let devices = workers.filter(|(_, info)| !info.is_cpu()).map(|(worker, _)| worker).collect();
        Self { devices, turn: 0 }
    }

    /// The worker whose turn it is, if there is a device.
    pub(crate) fn next(&mut self) -> Option<usize> {
        let device = self.devices.get(self.turn).copied()?;
        self.turn = (self.turn + 1) % self.devices.len();
        Some(device)
    }
}
