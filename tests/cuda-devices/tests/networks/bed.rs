//! A driver for one test at a time, and a scheduler that leaves to the CPU only tasks that no device can run.

use std::collections::{BTreeSet, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dahl::prelude::*;
use dahl::{ReadyTask, RuntimeBuilder, Scheduler, Workers};
use fake_cuda::FakeDriver;

/// The fake driver, or `None` where the driver of the machine is used.
pub(crate) struct Bed(MutexGuard<'static, Option<FakeDriver>>);

impl Bed {
    pub(crate) fn new() -> Self {
        Self(fake_cuda::driver())
    }

    /// Whether it is the fake driver.
    pub(crate) fn is_fake(&self) -> bool {
        self.0.is_some()
    }

    /// Resets the fake driver, whose streams run their work in the order of this seed.
    pub(crate) fn reset(&self, seed: u32) {
        self.reset_with(seed, "");
    }

    /// The same, with other settings.
    pub(crate) fn reset_with(&self, seed: u32, settings: &str) {
        if let Some(fake) = self.0.as_ref() {
            fake.reset(&format!("seed={seed} {settings}"));
        }
    }

    /// The number of calls of a kind to the fake driver since the reset; 0 with the driver of the machine.
    pub(crate) fn calls(&self, kind: &str) -> u64 {
        self.0.as_ref().map_or(0, |fake| fake.calls(kind))
    }

    /// The errors that the fake driver has found.
    pub(crate) fn findings(&self) -> String {
        self.0.as_ref().map_or_else(String::new, FakeDriver::findings)
    }
}

/// The CPU worker, and the device's.
const CPU: usize = 0;
const DEVICE: usize = 1;

/// A scheduler that runs on the device all tasks that can run there.
#[derive(Default)]
struct OnDevice {
    queues: [Mutex<VecDeque<ReadyTask>>; 2],
    workers: Option<Workers>,
    left: Left,
    gate: Gate,
}

/// Whether the device is given tasks, and the workers to wake when it is again.
#[derive(Clone)]
pub(crate) struct Gate(Arc<(AtomicBool, Mutex<Option<Workers>>)>);

impl Default for Gate {
    fn default() -> Self {
        Self(Arc::new((AtomicBool::new(true), Mutex::default())))
    }
}

impl Gate {
    pub(crate) fn close(&self) {
        self.0.0.store(false, Ordering::SeqCst);
    }

    pub(crate) fn open(&self) {
        self.0.0.store(true, Ordering::SeqCst);
        let workers = self.0.1.lock().unwrap_or_else(PoisonError::into_inner);
        workers.as_ref().expect("the runtime was built").wake(DEVICE);
    }

    fn is_open(&self) -> bool {
        self.0.0.load(Ordering::SeqCst)
    }
}

/// The codelets whose tasks were left to the CPU.
#[derive(Clone, Default)]
pub(crate) struct Left(Arc<Mutex<BTreeSet<String>>>);

impl Left {
    pub(crate) fn names(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}

/// One CPU worker and one device, which runs all tasks that it can; and the codelets that it cannot run.
pub(crate) fn on_device() -> (RuntimeBuilder, Left) {
    let (runtime, left, _) = on_gated_device();
    (runtime, left)
}

/// The same, with a gate before the device.
pub(crate) fn on_gated_device() -> (RuntimeBuilder, Left, Gate) {
    let scheduler = OnDevice::default();
    let (left, gate) = (scheduler.left.clone(), scheduler.gate.clone());
    (Runtime::builder().cpu_workers(1).cuda_devices(1).custom_scheduler(scheduler), left, gate)
}

impl OnDevice {
    fn queue(&self, worker: usize) -> MutexGuard<'_, VecDeque<ReadyTask>> {
        self.queues[worker].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Scheduler for OnDevice {
    fn name(&self) -> &'static str {
        "on-device"
    }

    fn sees_submissions(&self) -> bool {
        false
    }

    fn start(&mut self, workers: &Workers) {
        self.workers = Some(workers.clone());
        *self.gate.0.1.lock().unwrap_or_else(PoisonError::into_inner) = Some(workers.clone());
    }

    fn push(&self, task: ReadyTask, _made_ready_by: Option<usize>) {
        let worker = if task.can_run_on(DEVICE) { DEVICE } else { CPU };
        if worker == CPU {
            self.left.0.lock().unwrap_or_else(PoisonError::into_inner).insert(task.codelet().to_owned());
        }
        self.queue(worker).push_back(task);
        self.workers.as_ref().expect("it was started").wake(worker);
    }

    fn pop(&self, worker: Option<usize>) -> Option<ReadyTask> {
        // The submitting thread helps on the CPU.
        let worker = worker.unwrap_or(CPU);
        (worker == CPU || self.gate.is_open()).then(|| self.queue(worker).pop_front()).flatten()
    }

    fn wakes_workers(&self) -> bool {
        true
    }
}
