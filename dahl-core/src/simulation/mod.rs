//! [`Simulation`]: runs a task graph in virtual time, on a machine that need not exist.
//!
//! No thread runs beside the host. A host thread that waits advances the simulation. Idle workers take tasks from the
//! scheduler. A task's kernel really runs as soon as a worker takes the task. No other task can observe that, because
//! the successors become ready only at the event of the task's end. When no worker takes a task any more, the clock
//! advances to the next event. Events at the same time happen in the order of their creation, so a simulation is the
//! same every time.
//!
//! The worker of a device takes one task ahead: its inputs are transferred while the previous task runs.
//!
//! Submitting takes the time that the machine's description says ([`Submission`](crate::machine::Submission)): the host's thread
//! advances the simulation by it. Kernels and callbacks, which run inside of the simulation, submit nothing.
//!
//! `engine` has the events, `worker` what a worker does.

mod engine;
mod worker;

use std::sync::{Arc, PoisonError};

use crate::device::Devices;
use crate::engine::Shared;
use crate::memory::MemoryNode;
use crate::sync::{Mutex, MutexGuard};
use engine::Engine;
use worker::WorkerUsage;
pub use worker::WorkerUse;

/// The workers of a simulated machine, and the future events.
pub(crate) struct Simulation {
    engine: Mutex<Engine>,
    /// The name of the codelet that the host submitted last.
    submitted: Mutex<Option<&'static str>>,
    usages: Vec<Arc<WorkerUsage>>,
}

impl Simulation {
    pub(crate) fn new(cpu_workers: usize, host: &Arc<MemoryNode>, devices: &Devices) -> Self {
        let engine = Engine::new(cpu_workers, host, devices);
        Self { usages: engine.usages(), engine: Mutex::new(engine), submitted: Mutex::new(None) }
    }

    fn engine(&self) -> MutexGuard<'_, Engine> {
        self.engine.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that the host submits a task of `codelet`. Returns that of its submission before.
    pub(crate) fn note_submission(&self, codelet: &'static str) -> Option<&'static str> {
        self.submitted.lock().unwrap_or_else(PoisonError::into_inner).replace(codelet)
    }

    /// Processes the next event. False if there is none before the next submission.
    pub(crate) fn step(&self, shared: &Shared, devices: &Devices) -> bool {
        self.engine().step(shared, devices)
    }

    /// Advances time to `time_ns`, and processes the events until then.
    pub(crate) fn advance(&self, shared: &Shared, devices: &Devices, time_ns: u64) {
        if time_ns > shared.clock().now_ns() {
            self.engine().advance(shared, devices, time_ns);
        }
    }

    /// Advances time while the host's thread works, which takes `own_ns` on a core of its own.
    pub(crate) fn work(&self, shared: &Shared, devices: &Devices, own_ns: u64) {
        self.engine().work(shared, devices, own_ns);
    }

    /// The activity of each worker.
    pub(crate) fn uses(&self, shared: &Shared, devices: &Devices) -> Vec<WorkerUse> {
        // Not from the engine, whose lock a thread holds while it runs a kernel or a callback.
        let now_ns = shared.clock().now_ns();
        self.usages.iter().map(|usage| usage.usage(devices, now_ns)).collect()
    }
}
