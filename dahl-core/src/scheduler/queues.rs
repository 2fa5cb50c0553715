//! [`Queue`]: ready tasks, first in, first out. [`WorkerQueues`]: one queue for each worker, and one for all.

use crossbeam_queue::{ArrayQueue, SegQueue};

use crate::task::ReadyTask;

/// The most tasks in a worker's own queue. Further ones go to the shared queue, which has capacity for all tasks in
/// flight. So the memory of all queues is linear in the number of workers, and pushing does not allocate.
const OWN: usize = 1024;

/// A queue of tasks for any number of threads, first in, first out. It allocates only if more tasks are in flight than
/// its capacity.
#[derive(Debug)]
pub(super) struct Queue {
    tasks: ArrayQueue<ReadyTask>,
    more: SegQueue<ReadyTask>,
}

impl Queue {
    pub(super) fn new(tasks: usize) -> Self {
        Self { tasks: ArrayQueue::new(tasks.max(1)), more: SegQueue::new() }
    }

    pub(super) fn push(&self, task: ReadyTask) {
        if let Err(task) = self.tasks.push(task) {
            self.more.push(task);
        }
    }

    pub(super) fn pop(&self) -> Option<ReadyTask> {
        self.tasks.pop().or_else(|| if self.more.is_empty() { None } else { self.more.pop() })
    }
}

/// A bounded queue for each worker, and a shared one for tasks without a worker and for those that a worker's queue
/// cannot take.
#[derive(Debug)]
pub(super) struct WorkerQueues {
    own: Vec<ArrayQueue<ReadyTask>>,
    shared: Queue,
}

impl WorkerQueues {
    pub(super) fn new(workers: usize, tasks: usize) -> Self {
        let own = tasks.clamp(1, OWN);
        Self { own: (0..workers).map(|_| ArrayQueue::new(own)).collect(), shared: Queue::new(tasks) }
    }

    /// The number of workers.
    pub(super) fn len(&self) -> usize {
        self.own.len()
    }

    /// Adds a task to a worker's queue, or to the shared one if there is no such worker or its queue is full.
    #[inline]
    pub(super) fn push(&self, task: ReadyTask, worker: Option<usize>) {
        let rest = match worker.and_then(|worker| self.own.get(worker)) {
            Some(own) => own.push(task).err(),
            None => Some(task),
        };
        if let Some(task) = rest {
            self.shared.push(task);
        }
    }

    /// A task from a worker's own queue; also called to steal from it.
    #[inline]
    pub(super) fn pop_own(&self, worker: usize) -> Option<ReadyTask> {
        self.own.get(worker)?.pop()
    }

    /// A task from the shared queue.
    #[inline]
    pub(super) fn pop_shared(&self) -> Option<ReadyTask> {
        self.shared.pop()
    }
}
