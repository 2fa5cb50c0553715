//! [`OnDevices`]: a scheduler for measuring devices.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use dahl::{ReadyTask, Scheduler, WorkerInfo, Workers};

/// Tasks that a device can run go to devices, the others to CPU workers; in the order in which they became ready.
#[derive(Default)]
pub(crate) struct OnDevices {
    workers: Vec<WorkerInfo>,
    tasks: [Mutex<VecDeque<ReadyTask>>; 2],
}

impl OnDevices {
    fn queue(&self, is_device: bool) -> MutexGuard<'_, VecDeque<ReadyTask>> {
        self.tasks[usize::from(is_device)].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Scheduler for OnDevices {
    fn name(&self) -> &'static str {
        "on-devices"
    }

    fn start(&mut self, workers: &Workers) {
        self.workers = workers.as_slice().to_vec();
    }

    fn push(&self, task: ReadyTask, _: Option<usize>) {
        let mut devices = self.workers.iter().enumerate().filter(|(_, info)| !info.is_cpu());
        let is_for_device = devices.any(|(worker, _)| task.can_run_on(worker));
        self.queue(is_for_device).push_back(task);
    }

    fn pop(&self, worker: Option<usize>) -> Option<ReadyTask> {
        let is_device = worker.is_some_and(|worker| !self.workers[worker].is_cpu());
        self.queue(is_device).pop_front()
    }
}
