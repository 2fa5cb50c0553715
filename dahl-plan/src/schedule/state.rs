//! [`State`]: a schedule of some of the tasks, whose starts are no later than those of all others.

use super::model::Model;
use super::problem::Source;

/// The time of what has not happened.
pub(super) const NEVER: u64 = u64::MAX;

/// A task at a place and a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) task: usize,
    pub(super) one: usize,
    pub(super) start: u64,
    pub(super) end: u64,
}

/// Tasks that have been scheduled in the order of their starts.
#[derive(Clone, Debug)]
pub(super) struct State {
    /// The tasks, their workers and times.
    pub(super) steps: Vec<(Step, usize)>,
    /// The start of the last one: no other starts earlier.
    pub(super) time: u64,
    /// The end of each task, or [`NEVER`].
    pub(super) end: Vec<u64>,
    /// The node of each task that has an end.
    pub(super) node: Vec<usize>,
    /// When each worker is free.
    pub(super) free: Vec<u64>,
    /// The last end.
    pub(super) latest: u64,
    /// The picojoules of tasks and transfers, beyond those of idle workers.
    pub(super) energy: i64,
    /// How many arrays each task waits for.
    pub(super) waits: Vec<usize>,
    /// The nodes that have each array, one bit each.
    pub(super) present: Vec<u64>,
    /// How many readers each array has that are not scheduled.
    pub(super) readers: Vec<usize>,
    /// The types on which each task would have ended before `time`, one bit each: it is not scheduled there.
    pub(super) forbidden: Vec<u64>,
    /// What is in the memory of each node, and until when. Only where a limit may be exceeded.
    held: Vec<Vec<Held>>,
}

#[derive(Clone, Copy, Debug)]
struct Held {
    array: usize,
    bytes: u64,
    until: u64,
}

impl State {
    pub(super) fn new(model: &Model) -> Self {
        let is_written = |array: &&usize| matches!(model.arrays[**array].source, Source::Task(_));
        let workers = model.types.iter().map(|one| one.workers.len()).sum();
        let mut state = Self {
            steps: Vec::with_capacity(model.tasks()),
            time: 0,
            end: vec![NEVER; model.tasks()],
            node: vec![0; model.tasks()],
            free: vec![0; workers],
            latest: 0,
            energy: 0,
            waits: model.reads.iter().map(|reads| reads.iter().filter(is_written).count()).collect(),
            present: vec![0; model.arrays.len()],
            readers: model.arrays.iter().map(|array| array.readers.len()).collect(),
            forbidden: vec![0; model.tasks()],
            held: vec![Vec::new(); if model.is_limited() { model.nodes } else { 0 }],
        };
        for (index, array) in model.arrays.iter().enumerate() {
            if let Source::Node(node) = array.source {
                state.present[index] |= 1 << node;
                if let Some(held) = state.held.get_mut(node) {
                    held.push(Held { array: index, bytes: array.bytes, until: NEVER });
                }
            }
        }
        state
    }

    pub(super) fn is_complete(&self) -> bool {
        self.steps.len() == self.end.len()
    }

    /// Where an array comes from, and when it is there. It must have been written.
    pub(super) fn origin(&self, model: &Model, array: usize) -> (usize, u64) {
        match model.arrays[array].source {
            Source::Node(node) => (node, 0),
            Source::Task(task) => (self.node[task], self.end[task]),
        }
    }

    /// When an array that has been written is at a node.
    pub(super) fn arrival(&self, model: &Model, array: usize, node: usize) -> Option<u64> {
        let (from, time) = self.origin(model, array);
        Some(time + model.transfer(array, from, node)?.nanoseconds)
    }

    /// The worker of a type that is free first.
    pub(super) fn first_free(&self, model: &Model, one: usize) -> (u64, usize) {
        let workers = model.types[one].workers.iter().map(|&worker| (self.free[worker], worker));
        workers.min().expect("a type has a worker")
    }

    /// The earliest step of a task whose inputs have been written, on a type. `None` if it cannot run there.
    pub(super) fn step(&self, model: &Model, task: usize, one: usize) -> Option<Step> {
        let duration = model.time[task][one]?;
        let node = model.types[one].worker.node;
        let mut start = self.time.max(self.first_free(model, one).0);
        for &array in &model.reads[task] {
            start = start.max(self.arrival(model, array, node)?);
        }
        if !self.held.is_empty() {
            start = self.fits(model, task, node, start)?;
        }
        Some(Step { task, one, start, end: start + duration })
    }

    /// The first time from `start` on at which the memory of a node has place for what a task reads and writes.
    fn fits(&self, model: &Model, task: usize, node: usize, start: u64) -> Option<u64> {
        let Some(most) = model.memory[node] else { return Some(start) };
        let bytes = |array: &usize| model.arrays[*array].bytes;
        let written: u64 = model.writes[task].iter().map(bytes).sum();
        let is_absent = |array: &&usize| self.present[**array] >> node & 1 == 0;
        let needed = written + model.reads[task].iter().filter(is_absent).map(bytes).sum::<u64>();
        let mut times: Vec<u64> =
            self.held[node].iter().map(|held| held.until).filter(|&until| until > start).collect();
        times.push(start);
        times.sort_unstable();
        // No array comes after `start` but those of the task, so what fits at a time fits from then on.
        times.into_iter().find(|&time| {
            let held: u64 =
                self.held[node].iter().filter(|held| held.until > time).map(|held| held.bytes).sum();
            time != NEVER && held + needed <= most
        })
    }

    /// Schedules a step.
    pub(super) fn take(&mut self, model: &Model, step: Step) {
        let Step { task, one, start, end } = step;
        let node = model.types[one].worker.node;
        self.energy += model.energy[task][one];
        for &array in &model.reads[task] {
            if self.present[array] >> node & 1 == 0 {
                let from = self.origin(model, array).0;
                let transfer = model.transfer(array, from, node).expect("the step has a way for it");
                self.energy += transfer.picojoules as i64;
                self.present[array] |= 1 << node;
                self.hold(model, array, node);
            }
            self.readers[array] -= 1;
        }
        let worker = self.first_free(model, one).1;
        self.time = start;
        self.free[worker] = end;
        self.end[task] = end;
        self.node[task] = node;
        self.latest = self.latest.max(end);
        self.steps.push((step, worker));
        for &array in &model.writes[task] {
            self.present[array] = 1 << node;
            self.hold(model, array, node);
            for &reader in &model.arrays[array].readers {
                self.waits[reader] -= 1;
            }
        }
        if !self.held.is_empty() {
            // All copies of an array are held until its last reader has ended.
            for &array in model.reads[task].iter().filter(|&&array| self.readers[array] == 0) {
                let ends = model.arrays[array].readers.iter().map(|&reader| self.end[reader]);
                let last = ends.max().expect("the task reads it");
                for held in self.held.iter_mut().flatten().filter(|held| held.array == array) {
                    held.until = last;
                }
            }
        }
    }

    fn hold(&mut self, model: &Model, array: usize, node: usize) {
        if let Some(held) = self.held.get_mut(node) {
            held.push(Held { array, bytes: model.arrays[array].bytes, until: NEVER });
        }
    }

    /// The schedules with one more task, in the order of tasks and types. `forbids` says whether tasks are kept from types
    /// on which they would have ended before the new task starts.
    ///
    /// Among the workers of a type the one that is free first will do: they are equal, and from its start on the others that
    /// are free are so at the same time.
    pub(super) fn next(&self, model: &Model, forbids: bool) -> Vec<Self> {
        let is_ready = |task: &usize| self.end[*task] == NEVER && self.waits[*task] == 0;
        let ready = (0..model.tasks()).filter(is_ready);
        let steps: Vec<Step> = ready
            .flat_map(|task| (0..model.types.len()).map(move |one| (task, one)))
            .filter(|&(task, one)| self.forbidden[task] >> one & 1 == 0)
            .filter_map(|(task, one)| self.step(model, task, one))
            .collect();
        let next = |step: &Step| {
            let mut next = self.clone();
            next.take(model, *step);
            if forbids {
                // A start that is not earlier would be no reason: of two tasks without duration each would keep the other away.
                let is_before = |other: &&Step| other.start < step.start && other.end <= step.start;
                for other in steps.iter().filter(|other| other.task != step.task).filter(is_before) {
                    next.forbidden[other.task] |= 1 << other.one;
                }
            }
            next
        };
        steps.iter().map(next).collect()
    }
}
