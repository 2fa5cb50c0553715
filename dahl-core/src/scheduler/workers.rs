//! [`Workers`]: the workers among which a scheduler chooses.

use std::fmt;
use std::sync::Arc;

use crate::clock::Clock;
use crate::machine::{VirtualDevice, WorkerInfo};
use crate::sleep::Sleep;

/// The workers of a runtime, the links between their memories, and the runtime's clock. Clones share the same workers.
#[derive(Clone)]
pub struct Workers {
    infos: Arc<[WorkerInfo]>,
    /// Device `i` has memory node `i + 1`.
    devices: Arc<[VirtualDevice]>,
    clock: Clock,
    sleep: Arc<Sleep>,
}

impl Workers {
    pub(crate) fn new(
        infos: Vec<WorkerInfo>,
        devices: Vec<VirtualDevice>,
        clock: Clock,
        sleep: Arc<Sleep>,
    ) -> Self {
        Self { infos: infos.into(), devices: devices.into(), clock, sleep }
    }

    /// The workers in the order of their numbers.
    pub fn as_slice(&self) -> &[WorkerInfo] {
        &self.infos
    }

    /// The runtime's time.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The duration of copying so many bytes from one memory node to another over free links, in nanoseconds.
    pub fn transfer_ns(&self, from: usize, to: usize, bytes: usize) -> u64 {
        if from == to {
            return 0;
        }
        let ends = [from, to].into_iter().filter_map(|node| self.devices.get(node.checked_sub(1)?));
        ends.map(|device| device.transfer_ns(bytes)).sum()
    }

    /// Wakes a parked worker, so that it pops: after there is a task that only this worker will get.
    pub fn wake(&self, worker: usize) {
        self.sleep.wake(worker);
    }

    /// Wakes some parked worker, after there is a task that any worker will get.
    pub fn wake_one(&self) {
        self.sleep.wake_one();
    }

    /// Wakes all parked workers.
    pub fn wake_all(&self) {
        (0..self.infos.len()).for_each(|worker| self.sleep.wake(worker));
    }
}

impl fmt::Debug for Workers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workers").field("infos", &self.infos).finish_non_exhaustive()
    }
}
