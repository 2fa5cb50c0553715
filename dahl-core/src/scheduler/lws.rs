//! [`LocalityWorkStealing`]: a queue for each worker, filled where the data are; who has nothing left takes from those
//! who are near.

use super::{Queue, Scheduler, Workers};
use crate::access::AccessMode;
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::task::ReadyTask;

/// Arrays of which it is known who wrote them last. Further ones take the places of others.
const WRITERS: usize = 4096;

/// A queue for each worker. A task goes to the worker whose task made it ready, or, when the host made it ready, to the
/// one that wrote its arrays last. A worker without tasks takes those of others: of its own memory node first, and of
/// these of the next numbers.
#[derive(Debug)]
pub(crate) struct LocalityWorkStealing {
    own: Vec<Queue>,
    /// Tasks whose arrays nobody has written yet.
    host: Queue,
    /// For each worker the others, near ones first.
    victims: Vec<Vec<usize>>,
    /// By the number of an array: the number, and its last writer plus one.
    writers: Vec<AtomicU64>,
}

impl LocalityWorkStealing {
    pub(crate) fn new(workers: usize, tasks: usize) -> Self {
        Self {
            own: (0..workers).map(|_| Queue::new(tasks)).collect(),
            host: Queue::new(tasks),
            victims: Vec::new(),
            writers: (0..WRITERS).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    fn note_writer(&self, task: &ReadyTask, worker: usize) {
        let written = task.arrays().filter(|array| array.mode != AccessMode::R);
        for array in written.map(|array| array.array) {
            let note = (u64::from(array) << 32) | (worker as u64 + 1);
            self.writers[array as usize % WRITERS].store(note, Ordering::Relaxed);
        }
    }

    fn writer_of(&self, array: u32) -> Option<usize> {
        let note = self.writers[array as usize % WRITERS].load(Ordering::Relaxed);
        if note >> 32 == u64::from(array) { (note as u32 as usize).checked_sub(1) } else { None }
    }

    /// Who wrote most of what the task uses.
    fn last_writer(&self, task: &ReadyTask) -> Option<usize> {
        let bytes_of = |worker| -> usize {
            let own = task.arrays().filter(|array| self.writer_of(array.array) == Some(worker));
            own.map(|array| array.bytes + 1).sum()
        };
        let writers = task.arrays().filter_map(|array| self.writer_of(array.array));
        writers.filter(|&worker| task.can_run_on(worker)).max_by_key(|&worker| bytes_of(worker))
    }

    fn steal(&self, worker: usize) -> Option<ReadyTask> {
        self.victims[worker].iter().find_map(|&victim| self.own[victim].pop())
    }
}

impl Scheduler for LocalityWorkStealing {
    fn name(&self) -> &'static str {
        "lws"
    }

    fn start(&mut self, workers: &Workers) {
        let infos = workers.as_slice();
        let count = infos.len();
        self.victims = (0..count)
            .map(|worker| {
                let mut others: Vec<usize> = (1..count).map(|i| (worker + i) % count).collect();
                others.sort_by_key(|&other| {
                    let (one, other) = (&infos[worker], &infos[other]);
                    (one.node != other.node, one.kind != other.kind)
                });
                others
            })
            .collect();
    }

    fn push(&self, task: ReadyTask, worker: Option<usize>) {
        let worker = worker.filter(|&worker| task.can_run_on(worker)).or_else(|| self.last_writer(&task));
        worker.map_or(&self.host, |worker| &self.own[worker]).push(task);
    }

    fn pop(&self, worker: Option<usize>) -> Option<ReadyTask> {
        let Some(worker) = worker else {
            return self.host.pop().or_else(|| self.own.iter().find_map(Queue::pop));
        };
        let task = self.own[worker].pop().or_else(|| self.host.pop()).or_else(|| self.steal(worker))?;
        self.note_writer(&task, worker);
        Some(task)
    }
}
