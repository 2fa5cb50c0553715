//! [`WorkStealing`]: a queue for each worker. A worker whose queue is empty steals from others.

use super::{Scheduler, WorkerQueues};
use crate::task::ReadyTask;

/// A queue for each worker, and one for tasks that the host makes ready. A worker takes from its own, then from the
/// host's, then steals from the others', starting with its neighbour.
///
/// A worker that finds both queues empty checks those of all others: a cost linear in the number of workers, which only
/// idle workers pay.
#[derive(Debug)]
pub struct WorkStealing {
    queues: WorkerQueues,
}

impl WorkStealing {
    pub(crate) fn new(workers: usize, tasks: usize) -> Self {
        Self { queues: WorkerQueues::new(workers, tasks) }
    }
}

impl Scheduler for WorkStealing {
    fn name(&self) -> &'static str {
        "ws"
    }

    fn sees_submissions(&self) -> bool {
        false
    }

    fn serves_any_worker(&self) -> bool {
        true
    }

    fn lets_workers_go_on(&self) -> bool {
        true
    }

    fn push(&self, task: ReadyTask, worker: Option<usize>) {
        self.queues.push(task, worker);
    }

    fn pop(&self, worker: Option<usize>) -> Option<ReadyTask> {
        let own = worker.and_then(|worker| self.queues.pop_own(worker));
        own.or_else(|| self.queues.pop_shared()).or_else(|| {
            let (first, count) = (worker.map_or(0, |worker| worker + 1), self.queues.len());
            (first..count).chain(0..first.min(count)).find_map(|victim| self.queues.pop_own(victim))
        })
    }
}
