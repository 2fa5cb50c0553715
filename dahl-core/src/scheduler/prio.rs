//! [`Prio`]: one queue, from which every worker takes the task with the largest priority.

use super::sorted::{QueueKey, Sorted};
use super::{Scheduler, suits};
use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::{Mutex, MutexGuard};
use crate::task::ReadyTask;

/// One queue for all workers: larger priorities first, and among equal ones the order of submission.
#[derive(Debug)]
pub(crate) struct Prio {
    waiting: Mutex<Sorted<ReadyTask>>,
    /// The number of waiting tasks, so that a worker without tasks takes no lock.
    count: AtomicUsize,
    workers: usize,
}

impl Prio {
    pub(crate) fn new(workers: usize, tasks: usize) -> Self {
        Self { waiting: Mutex::new(Sorted::new(tasks)), count: AtomicUsize::new(0), workers }
    }

    fn waiting(&self) -> MutexGuard<'_, Sorted<ReadyTask>> {
        self.waiting.lock().unwrap_or_else(|poison| poison.into_inner())
    }
}

impl Scheduler for Prio {
    fn name(&self) -> &'static str {
        "prio"
    }

    fn sees_submissions(&self) -> bool {
        false
    }

    fn serves_any_worker(&self) -> bool {
        true
    }

    fn push(&self, task: ReadyTask, _: Option<usize>) {
        let place = QueueKey { rank: task.priority().into(), number: task.sequence() };
        let mut waiting = self.waiting();
        waiting.insert(place, task);
        self.count.store(waiting.len(), Ordering::Release);
    }

    fn pop(&self, worker: Option<usize>) -> Option<ReadyTask> {
        if self.count.load(Ordering::Acquire) == 0 {
            return None;
        }
        let mut waiting = self.waiting();
        let suits = |task: &ReadyTask| worker.is_none_or(|worker| suits(task, worker, self.workers));
        let first = waiting.iter().position(suits)?;
        let task = waiting.remove(first);
        self.count.store(waiting.len(), Ordering::Release);
        task
    }
}
