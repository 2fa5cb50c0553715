//! What a runtime on a simulated machine does in addition: a part of [`Shared`] in virtual time.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::shared::Shared;
use crate::array::ArrayState;
use crate::device::Devices;
use crate::memory::HOME;
use crate::simulation::{Simulation, WorkerUse};
use crate::sync::{Patience, thread};

impl Shared {
    /// Whether time is virtual, and workers are simulated.
    pub(crate) fn is_simulated(&self) -> bool {
        self.simulation.is_some()
    }

    /// The devices, simulated or real.
    pub(crate) fn devices(&self) -> Option<&Devices> {
        self.devices.as_ref()
    }

    /// What a simulation consists of.
    pub(crate) fn simulated(&self) -> Option<(&Simulation, &Devices)> {
        self.simulation.as_ref().zip(self.devices.as_ref())
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
    pub(crate) fn show_transfers(&self) {
        let (Some(devices), Some(observer)) = (self.devices(), &self.observer) else { return };
        for (transfer, begin_ns, end_ns) in devices.take_unseen() {
            // Nothing may unwind through a thread that waits: what it waits for would tell a frame that is gone.
            let shown = catch_unwind(AssertUnwindSafe(|| observer.transferred(&transfer, begin_ns, end_ns)));
            if shown.is_err() {
                eprintln!("dahl: an observer panicked when it was shown a transfer; the run goes on");
            }
        }
    }

    /// Lets the host wait until the elements that it fetched are there.
    pub(crate) fn arrive(&self, array: &ArrayState) {
        if let Some((simulation, devices)) = self.simulated() {
            simulation.advance(self, devices, array.replicas().arrived_ns(HOME));
            self.show_transfers();
        }
    }

    /// What each worker of a simulation has done.
    pub(crate) fn worker_uses(&self) -> Vec<WorkerUse> {
        self.simulated().map(|(simulation, devices)| simulation.uses(self, devices)).unwrap_or_default()
    }
}
