//! What a runtime with CUDA devices does in addition: a part of [`Shared`] that decides who runs what.

use super::shared::Shared;
use crate::task::ReadyTask;

impl Shared {
    /// Wakes a worker that can run the scheduler's task: all workers, if they differ.
    #[inline]
    pub(crate) fn wake_some(&self) {
        if self.has_real_devices() {
            (0..self.workers()).for_each(|worker| self.sleep().wake(worker));
        } else {
            self.sleep().wake_one_on_free_core(self.cores());
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
        // Start at different workers.
        let start = task.sequence() as usize % cpu_workers;
        let of_cpu = (0..cpu_workers).map(|worker| (start + worker) % cpu_workers);
        of_cpu.chain(cpu_workers..self.workers()).find(|&worker| task.can_run_on(worker))
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
