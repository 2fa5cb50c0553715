//! [`Eager`]: one queue, first in, first out, for all workers.

use super::{Queue, Scheduler};
use crate::task::ReadyTask;

/// One queue for all workers, first in, first out.
#[derive(Debug)]
pub struct Eager {
    queue: Queue,
}

impl Eager {
    pub(crate) fn new(tasks: usize) -> Self {
        Self { queue: Queue::new(tasks) }
    }
}

impl Scheduler for Eager {
    fn name(&self) -> &'static str {
        "eager"
    }

    fn sees_submissions(&self) -> bool {
        false
    }

    fn serves_any_worker(&self) -> bool {
        true
    }

    fn push(&self, task: ReadyTask, _: Option<usize>) {
        self.queue.push(task);
    }

    fn pop(&self, _: Option<usize>) -> Option<ReadyTask> {
        self.queue.pop()
    }
}
