//! [`LocalityWorkStealing`]: a queue for each worker. A task goes to the queue of the worker that has its data, and an
//! idle worker steals from its neighbours first.

use super::{Scheduler, WorkerQueues, Workers};
use crate::access::AccessMode;
use crate::description::ArrayId;
use crate::machine::WorkerInfo;
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::task::ReadyTask;

/// The most arrays whose last writers are known. Further ones replace others.
const WRITERS: usize = 4096;

/// A queue for each worker. A task goes to the worker whose task made it ready, or, if the host made it ready, to the
/// last writer of its arrays. A worker without tasks steals, first within its own memory node, and there first from the
/// next numbers.
#[derive(Debug)]
pub(crate) struct LocalityWorkStealing {
    /// The shared queue is for tasks whose arrays have no last writer.
    queues: WorkerQueues,
    /// Workers with the same memory node and kind.
    groups: Vec<Group>,
    /// The group of each worker.
    group_of: Vec<usize>,
    /// By the number of an array: its lower half, and its last writer plus one.
    writers: Vec<AtomicU64>,
}

/// Workers with the same memory node and kind. Each group stores the order of all groups, so there is one group per
/// node and kind, not per worker.
#[derive(Debug, Default)]
struct Group {
    /// Their numbers, ascending.
    members: Vec<usize>,
    /// All groups, near ones first, this one at the front.
    near: Vec<usize>,
}

impl LocalityWorkStealing {
    pub(crate) fn new(workers: usize, tasks: usize) -> Self {
        Self {
            queues: WorkerQueues::new(workers, tasks),
            groups: Vec::new(),
            group_of: Vec::new(),
            writers: (0..WRITERS).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    fn note_writer(&self, task: &ReadyTask, worker: usize) {
        let written = task.arrays().filter(|array| array.mode != AccessMode::R);
        for array in written.map(|array| array.array) {
            let note = (array.number() << 32) | (worker as u64 + 1);
            self.writers[array.number() as usize % WRITERS].store(note, Ordering::Relaxed);
        }
    }

    fn writer_of(&self, array: ArrayId) -> Option<usize> {
        let note = self.writers[array.number() as usize % WRITERS].load(Ordering::Relaxed);
        if note >> 32 == array.number() & u64::from(u32::MAX) {
            (note as u32 as usize).checked_sub(1)
        } else {
            None
        }
    }

    /// The last writer of most of the task's arrays.
    fn last_writer(&self, task: &ReadyTask) -> Option<usize> {
        let bytes_of = |worker| -> usize {
            let own = task.arrays().filter(|array| self.writer_of(array.array) == Some(worker));
            own.map(|array| array.bytes + 1).sum()
        };
        let writers = task.arrays().filter_map(|array| self.writer_of(array.array));
        writers.filter(|&worker| task.can_run_on(worker)).max_by_key(|&worker| bytes_of(worker))
    }

    fn steal(&self, worker: usize) -> Option<ReadyTask> {
        let near = &self.groups[self.group_of[worker]].near;
        near.iter().find_map(|&group| {
            let members = &self.groups[group].members;
            let (before, after) = members.split_at(members.partition_point(|&member| member < worker));
            after.iter().chain(before).find_map(|&victim| self.queues.pop_own(victim))
        })
    }
}

impl Scheduler for LocalityWorkStealing {
    fn name(&self) -> &'static str {
        "lws"
    }

    fn sees_submissions(&self) -> bool {
        false
    }

    fn start(&mut self, workers: &Workers) {
        let infos = workers.as_slice();
        let is_of = |group: &Group, info: &WorkerInfo| {
            let first = &infos[group.members[0]];
            (first.node, &first.kind) == (info.node, &info.kind)
        };
        for (worker, info) in infos.iter().enumerate() {
            let known = self.groups.iter().position(|group| is_of(group, info));
            let group = known.unwrap_or_else(|| {
                self.groups.push(Group::default());
                self.groups.len() - 1
            });
            self.groups[group].members.push(worker);
            self.group_of.push(group);
        }
        let firsts: Vec<_> = self.groups.iter().map(|group| &infos[group.members[0]]).collect();
        let count = firsts.len();
        for (number, group) in self.groups.iter_mut().enumerate() {
            group.near = (0..count).map(|i| (number + i) % count).collect();
            let first = firsts[number];
            group
                .near
                .sort_by_key(|&other| (first.node != firsts[other].node, first.kind != firsts[other].kind));
        }
    }

    fn serves_any_worker(&self) -> bool {
        true
    }

    fn push(&self, task: ReadyTask, worker: Option<usize>) {
        let worker = worker.filter(|&worker| task.can_run_on(worker)).or_else(|| self.last_writer(&task));
        self.queues.push(task, worker);
    }

    fn pop(&self, worker: Option<usize>) -> Option<ReadyTask> {
        let Some(worker) = worker else {
            let of_workers = || (0..self.queues.len()).find_map(|worker| self.queues.pop_own(worker));
            return self.queues.pop_shared().or_else(of_workers);
        };
        let task = self.queues.pop_own(worker).or_else(|| self.queues.pop_shared());
        let task = task.or_else(|| self.steal(worker))?;
        self.note_writer(&task, worker);
        Some(task)
    }
}
