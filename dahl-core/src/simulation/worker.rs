//! [`Worker`]: a worker of a simulated machine, and what it has done.
#![allow(unsafe_code, reason = "keeps records of tasks from their begin to their end")]

use std::collections::VecDeque;
use std::ptr::NonNull;
use std::sync::Arc;

use crate::codelet::kernel_memory;
use crate::device::Devices;
use crate::graph::Submitted;
use crate::machine::{Speed, VirtualDevice};
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::task::ReadyTask;
use crate::worker::{Issued, WorkerContext};

/// The tasks of a device that have been taken and have not ended: one runs, and one has its data transferred.
pub(super) const AHEAD: usize = 2;

/// A simulated worker.
pub(super) struct Worker {
    pub(super) context: WorkerContext,
    /// What its kernels keep: several workers share a thread.
    pub(super) kernel_memory: kernel_memory::Kept,
    /// The device, if it is one.
    pub(super) device: Option<usize>,
    pub(super) issued: VecDeque<Task>,
    /// A task for which there is not enough memory beside the running one.
    pub(super) waiting: Option<ReadyTask>,
    /// When the last taken task ends.
    pub(super) free_ns: u64,
    /// Of a worker of the CPU that runs a task: its progress.
    pub(super) progress: Option<Progress>,
    /// Of a worker of the CPU: the number of the event that is the end of its task; others of it are outdated.
    pub(super) event: u64,
    /// The number of tasks taken.
    pub(super) taken: u64,
    pub(super) usage: Arc<WorkerUsage>,
}

/// The activity of a worker: readable while the engine runs.
pub(super) struct WorkerUsage {
    name: String,
    device: Option<usize>,
    ended: AtomicU64,
    busy_ns: AtomicU64,
}

/// A task that has begun and not ended.
pub(super) struct Task {
    task: NonNull<Submitted>,
    pub(super) outcome: Issued,
}

/// The progress of a task that others slow down.
#[derive(Clone, Copy)]
pub(super) struct Progress {
    begin_ns: u64,
    /// The time of the last change of its pace.
    since_ns: u64,
    /// What it would take from then on if no other worker were busy.
    left_ns: f64,
    /// How many times longer it has taken since then.
    pace: f64,
    /// How much longer for each other worker that is busy.
    co_running: f64,
}

impl Progress {
    /// A task that begins, beside no other.
    pub(super) fn new(begin_ns: u64, duration_ns: u64, co_running: f64) -> Self {
        Self { begin_ns, since_ns: begin_ns, left_ns: duration_ns as f64, pace: 1.0, co_running }
    }

    /// Notes at `now_ns` that so many others run from now on, and that it takes `share` times as long since the cores are shared.
    /// Returns when it ends if it stays at that.
    pub(super) fn run_beside(&mut self, others: usize, share: f64, now_ns: u64) -> u64 {
        let passed_ns = now_ns.saturating_sub(self.since_ns);
        self.left_ns = (self.left_ns - passed_ns as f64 / self.pace).max(0.0);
        self.since_ns += passed_ns;
        self.pace = share * (1.0 + self.co_running * others as f64);
        self.since_ns.saturating_add((self.left_ns * self.pace).round() as u64)
    }

    pub(super) fn begin_ns(&self) -> u64 {
        self.begin_ns
    }
}

// SAFETY: a record may be handled by any thread, and this is its only handle until it has been completed.
unsafe impl Send for Task {}

impl Task {
    pub(super) fn new(task: &Submitted, outcome: Issued) -> Self {
        Self { task: NonNull::from(task), outcome }
    }

    /// The task. Its record stays until the task has been completed.
    pub(super) fn task<'r>(&self) -> &'r Submitted {
        // SAFETY: the record is not free before the task has been completed, which takes this value.
        unsafe { self.task.as_ref() }
    }
}

/// The activity of a worker of a simulated machine.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct WorkerUse {
    /// Its name: `cpu 0`, or the device's.
    pub name: String,
    /// The tasks that it has run.
    pub tasks: u64,
    /// Their total duration, in microseconds.
    pub busy_us: f64,
    /// Its energy since the runtime was built, in joules, if the machine's model has its power, busy and idle.
    pub energy_joules: Option<f64>,
}

impl Worker {
    pub(super) fn new(context: WorkerContext, device: Option<usize>) -> Self {
        let name = context.name().to_owned();
        let usage = WorkerUsage { name, device, ended: AtomicU64::new(0), busy_ns: AtomicU64::new(0) };
        Self {
            context,
            kernel_memory: kernel_memory::Kept::NOTHING,
            device,
            issued: VecDeque::new(),
            waiting: None,
            free_ns: 0,
            progress: None,
            event: 0,
            taken: 0,
            usage: Arc::new(usage),
        }
    }

    /// The most tasks that it may have taken and not ended.
    fn most(&self) -> usize {
        if self.device.is_some() { AHEAD } else { 1 }
    }

    /// Whether it is a device that is lost.
    pub(super) fn is_lost(&self, devices: &Devices) -> bool {
        self.device.is_some_and(|device| devices.is_lost(device))
    }

    /// Whether it may take a task in addition to `ahead` taken ones.
    pub(super) fn may_take(&self, devices: &Devices, ahead: usize) -> bool {
        let has_as_many = self.issued.len() == ahead && ahead < self.most();
        let goes_ahead = ahead == 0 || (self.waiting.is_none() && !self.is_about_to_go(devices));
        has_as_many && goes_ahead && !self.is_lost(devices)
    }

    /// Whether it is a device that has run its last task before it is lost.
    pub(super) fn is_about_to_go(&self, devices: &Devices) -> bool {
        let lost_after = self.model(devices).and_then(|device| device.lost_after);
        lost_after.is_some_and(|tasks| self.taken >= tasks)
    }

    /// The reason if its next task is to fail without running.
    pub(super) fn injected_failure(&self, devices: &Devices) -> Option<String> {
        let device = self.model(devices)?;
        if self.is_lost(devices) {
            return Some(format!("the device `{}` is lost", device.name));
        }
        let fails = device.fails_at == Some(self.taken + 1);
        fails.then(|| format!("the device `{}` failed, as it was told to", device.name))
    }

    fn model<'d>(&self, devices: &'d Devices) -> Option<&'d VirtualDevice> {
        self.device.map(|device| &devices.machine().devices[device])
    }

    /// Its speed.
    pub(super) fn speed<'d>(&self, devices: &'d Devices) -> &'d Speed {
        self.model(devices).map_or(&devices.machine().cpu.speed, |device| &device.speed)
    }
}

impl WorkerUsage {
    /// Counts a task that has ended. Only the engine calls it.
    pub(super) fn count(&self, duration_ns: u64) {
        let busy_ns = self.busy_ns.load(Ordering::Relaxed).saturating_add(duration_ns);
        self.busy_ns.store(busy_ns, Ordering::Relaxed);
        self.ended.fetch_add(1, Ordering::Relaxed);
    }

    /// The activity of the worker until `now_ns`.
    pub(super) fn usage(&self, devices: &Devices, now_ns: u64) -> WorkerUse {
        let machine = devices.machine();
        let (watts, idle_watts) = match self.device.map(|device| &machine.devices[device]) {
            Some(device) => (device.watts, device.idle_watts),
            None => (machine.cpu.watts, machine.cpu.idle_watts),
        };
        let busy_ns = self.busy_ns.load(Ordering::Relaxed);
        let idle_ns = now_ns.saturating_sub(busy_ns);
        let joules =
            |(watts, idle_watts): (f64, f64)| (watts * busy_ns as f64 + idle_watts * idle_ns as f64) / 1e9;
        WorkerUse {
            name: self.name.clone(),
            tasks: self.ended.load(Ordering::Relaxed),
            busy_us: busy_ns as f64 / 1e3,
            energy_joules: watts.zip(idle_watts).map(joules),
        }
    }
}
