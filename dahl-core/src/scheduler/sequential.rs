//! [`Sequential`]: runs one task after the other, in the order of submission.

use super::sorted::{QueueKey, Sorted};
use super::{Scheduler, Workers};
use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::{Mutex, MutexGuard};
use crate::task::ReadyTask;

/// Worker 0 runs all tasks, always the ready one that was submitted first. Since a task depends only on earlier ones,
/// that is the order of submission, except that among commuting tasks the one that holds the commute lock goes first.
#[derive(Debug)]
pub(crate) struct Sequential {
    waiting: Mutex<Sorted<ReadyTask>>,
    count: AtomicUsize,
    workers: Option<Workers>,
}

impl Sequential {
    pub(crate) fn new(tasks: usize) -> Self {
        Self { waiting: Mutex::new(Sorted::new(tasks)), count: AtomicUsize::new(0), workers: None }
    }

    fn waiting(&self) -> MutexGuard<'_, Sorted<ReadyTask>> {
        self.waiting.lock().unwrap_or_else(|poison| poison.into_inner())
    }
}

impl Scheduler for Sequential {
    fn name(&self) -> &'static str {
        "sequential"
    }

    fn sees_submissions(&self) -> bool {
        false
    }

    fn start(&mut self, workers: &Workers) {
        self.workers = Some(workers.clone());
    }

    fn push(&self, task: ReadyTask, _: Option<usize>) {
        let place = QueueKey { rank: 0, number: task.sequence() };
        let mut waiting = self.waiting();
        waiting.insert(place, task);
        self.count.store(waiting.len(), Ordering::Release);
        drop(waiting);
        if let Some(workers) = &self.workers {
            workers.wake(0);
        }
    }

    fn pop(&self, worker: Option<usize>) -> Option<ReadyTask> {
        if worker != Some(0) || self.count.load(Ordering::Acquire) == 0 {
            return None;
        }
        let mut waiting = self.waiting();
        let task = waiting.pop_front()?;
        self.count.store(waiting.len(), Ordering::Release);
        Some(task)
    }

    fn wakes_workers(&self) -> bool {
        true
    }
}
