//! What a runtime with CUDA devices does in addition: a part of [`Shared`] that decides who runs what.

use super::shared::Shared;
use crate::task::ReadyTask;

/// The workers of whom one is to be woken for a task.
#[derive(Clone, Copy)]
pub(super) enum ToWake {
    /// Any, if a core is free for it: all are alike.
    Any,
    /// One that can run it.
    Able(AbleWorkers),
    /// All: the scheduler may keep the task for one.
    All,
}

/// The workers that can run a task: all of CPUs or none, and some of devices.
#[derive(Clone, Copy)]
pub(super) struct AbleWorkers {
    cpu_workers: usize,
    on_cpu: bool,
    /// A bit for each device; devices whose numbers are equal modulo 64 share one. A worker that is woken for a task that it
    /// cannot run hands it on.
    devices: u64,
}

impl AbleWorkers {
    fn new(shared: &Shared, task: &ReadyTask) -> Self {
        let cpu_workers = shared.cpu_workers();
        let able_devices = (cpu_workers..shared.workers()).filter(|&worker| task.can_run_on(worker));
        let devices = able_devices.fold(0, |bits, worker| bits | 1 << ((worker - cpu_workers) % 64));
        // A task that nobody can run fails wherever it is taken.
        let on_cpu = task.can_run_on(0) || devices == 0;
        Self { cpu_workers, on_cpu, devices }
    }

    fn contains(self, worker: usize) -> bool {
        match worker.checked_sub(self.cpu_workers) {
            None => self.on_cpu,
            Some(device) => self.devices >> (device % 64) & 1 == 1,
        }
    }
}

impl Shared {
    /// Who is to be woken for a task that the scheduler is about to be given.
    #[inline]
    pub(super) fn to_wake(&self, task: &ReadyTask) -> ToWake {
        if !self.has_real_devices() {
            ToWake::Any
        } else if self.scheduler.serves_any_worker() {
            ToWake::Able(AbleWorkers::new(self, task))
        } else {
            ToWake::All
        }
    }

    /// Wakes a worker for a task that the scheduler has been given.
    #[inline]
    pub(super) fn wake(&self, to_wake: ToWake) {
        match to_wake {
            ToWake::Any => self.sleep().wake_one_on_free_core(self.cores()),
            ToWake::Able(able) => drop(self.sleep().wake_one_that(|worker| able.contains(worker))),
            ToWake::All => (0..self.workers()).for_each(|worker| self.sleep().wake(worker)),
        }
    }

    /// Wakes another worker in place of `worker`, which may have been woken for a task that the scheduler has, and has found
    /// one of its own.
    #[inline]
    pub(super) fn wake_in_place_of(&self, worker: usize) {
        if !self.has_real_devices() {
            self.sleep().wake_one_on_free_core(self.cores());
        } else if self.scheduler.serves_any_worker() {
            self.sleep().wake_in_place_of(worker);
        } else {
            self.wake(ToWake::All);
        }
    }

    /// Whether not every task wakes a worker: if the runtime wakes them, and all are alike.
    pub(crate) fn spares_workers(&self) -> bool {
        !cfg!(dahl_fuzz) && !self.has_real_devices() && !self.scheduler.wakes_workers()
    }

    /// Whether `worker`, or the host, may run a task that the scheduler gave to it: it can, or no worker can.
    pub(crate) fn may_run(&self, task: &ReadyTask, worker: Option<usize>) -> bool {
        match worker {
            Some(worker) => task.can_run_on(worker) || self.able_worker(task).is_none(),
            None => {
                let able = self.able_worker(task);
                able.is_none_or(|able| self.worker(able).is_cpu())
            }
        }
    }

    /// A worker that can run a task, CPU workers first.
    pub(crate) fn able_worker(&self, task: &ReadyTask) -> Option<usize> {
        let cpu_workers = self.cpu_workers();
        let devices = self.workers() - cpu_workers;
        // Not always the first one of a kind.
        let turned = |count: usize| {
            let start = task.sequence() as usize % count.max(1);
            (0..count).map(move |index| (start + index) % count)
        };
        let of_devices = turned(devices).map(|device| cpu_workers + device);
        turned(cpu_workers).chain(of_devices).find(|&worker| task.can_run_on(worker))
    }

    /// Passes a task to a worker that can run it.
    #[cold]
    pub(crate) fn hand_on(&self, task: ReadyTask) {
        let target = self.able_worker(&task).unwrap_or(0);
        self.send_to(target, task);
    }

    /// Gives a task to worker `target`, which alone may run it.
    pub(crate) fn send_to(&self, target: usize, task: ReadyTask) {
        self.mailboxes[target].push(task);
        self.sleep().wake(target);
    }
}
