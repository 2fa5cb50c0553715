//! [`Simulated`]: what a runtime on a simulated machine has besides, and how it moves on: [`Shared`]'s part in virtual time.

use super::shared::Shared;
use crate::array::{ArrayState, HOME};
use crate::device::Devices;
use crate::simulation::{Simulation, WorkerUse};
use crate::sync::{Patience, thread};

/// What a runtime on a simulated machine has besides.
pub(super) struct Simulated {
    pub(super) devices: Devices,
    pub(super) simulation: Simulation,
}

impl Shared {
    /// Whether time is virtual, and workers are simulated.
    pub(crate) fn is_simulated(&self) -> bool {
        self.simulated.is_some()
    }

    /// The devices of a simulated machine.
    pub(crate) fn devices(&self) -> Option<&Devices> {
        self.simulated.as_ref().map(|simulated| &simulated.devices)
    }

    /// Moves a simulation on until `holds`.
    pub(crate) fn simulate_until(&self, holds: impl Fn() -> bool) {
        let mut idle = None;
        while !holds() {
            if self.help() {
                idle = None;
                continue;
            }
            // Another thread moves it on, or is about to submit what this one waits for.
            thread::yield_now();
            let Some(after) = self.stall().after else { continue };
            if idle.get_or_insert_with(|| Patience::new(after)).is_over() {
                self.stall().report(self, self.completed());
                idle = None;
            }
        }
        self.show_transfers();
        self.serve_if_stopped();
    }

    /// Shows the observer what was transferred. The caller holds no lock.
    fn show_transfers(&self) {
        if let Some(devices) = self.devices() {
            devices.show_transfers();
        }
    }

    /// Lets the host wait until the elements that it fetched are there.
    pub(crate) fn arrive(&self, array: &ArrayState) {
        if let Some(Simulated { devices, simulation }) = &self.simulated {
            simulation.advance(self, devices, array.copies().arrived_ns(HOME));
            devices.show_transfers();
        }
    }

    /// What each worker of a simulation has done.
    pub(crate) fn worker_uses(&self) -> Vec<WorkerUse> {
        let uses = |Simulated { devices, simulation }: &Simulated| simulation.uses(self, devices);
        self.simulated.as_ref().map(uses).unwrap_or_default()
    }
}
