//! [`WorkStealing`]: a queue for each worker; who has nothing left takes from others.

use super::{Queue, Scheduler};
use crate::task::ReadyTask;

/// A queue for each worker, and one for tasks that the host makes ready. A worker takes from its own, then from the
/// host's, then from the others', beginning with its neighbour.
#[derive(Debug)]
pub struct WorkStealing {
    own: Vec<Queue>,
    host: Queue,
}

impl WorkStealing {
    pub(crate) fn new(workers: usize, tasks: usize) -> Self {
        Self { own: (0..workers).map(|_| Queue::new(tasks)).collect(), host: Queue::new(tasks) }
    }
}

impl Scheduler for WorkStealing {
    fn name(&self) -> &'static str {
        "ws"
    }

    fn lets_workers_go_on(&self) -> bool {
        true
    }

    fn push(&self, task: ReadyTask, worker: Option<usize>) {
        worker.and_then(|worker| self.own.get(worker)).unwrap_or(&self.host).push(task);
    }

    fn pop(&self, worker: Option<usize>) -> Option<ReadyTask> {
        let own = worker.and_then(|worker| self.own.get(worker)).and_then(Queue::pop);
        own.or_else(|| self.host.pop()).or_else(|| {
            let first = worker.map_or(0, |worker| worker + 1);
            (0..self.own.len()).find_map(|i| self.own[(first + i) % self.own.len()].pop())
        })
    }
}
