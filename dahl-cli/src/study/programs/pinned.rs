//! [`Pinned`]: a scheduler that gives one worker all tasks that it can run.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use dahl::{ReadyTask, Scheduler, Workers};

/// Gives each task to one worker, in the order in which they become ready; a task that cannot run there, to worker 0.
#[derive(Debug)]
pub(crate) struct Pinned {
    worker: usize,
    queues: Mutex<Vec<VecDeque<ReadyTask>>>,
    workers: Option<Workers>,
}

impl Pinned {
    /// The scheduler for worker number `worker`.
    pub(crate) fn to(worker: usize) -> Self {
        Self { worker, queues: Mutex::default(), workers: None }
    }
}

impl Scheduler for Pinned {
    fn name(&self) -> &'static str {
        "pinned"
    }

    fn start(&mut self, workers: &Workers) {
        let queues = self.queues.get_mut().unwrap_or_else(PoisonError::into_inner);
        queues.resize_with(workers.as_slice().len(), VecDeque::default);
        self.workers = Some(workers.clone());
    }

    fn push(&self, task: ReadyTask, _made_ready_by: Option<usize>) {
        let worker = if task.can_run_on(self.worker) { self.worker } else { 0 };
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)[worker].push_back(task);
        if let Some(workers) = &self.workers {
            workers.wake(worker);
        }
    }

    fn pop(&self, worker: Option<usize>) -> Option<ReadyTask> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)[worker?].pop_front()
    }

    fn wakes_workers(&self) -> bool {
        true
    }
}
