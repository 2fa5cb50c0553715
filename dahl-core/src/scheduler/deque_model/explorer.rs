//! [`Explorer`]: tasks whose duration is not known on every kind of worker.
//!
//! They wait together, in groups of one footprint, for workers that run out of tasks. A worker of a known kind takes
//! any of them. A worker of an unknown kind takes a *sample*, one at a time for each kind, unless no other kind can run
//! the task. But the last tasks are reserved for unknown kinds with fewer samples, if one of their workers has no task
//! behind its current one. So tasks that arrive one by one are tried on every kind too. As soon as all kinds are known,
//! the group is placed like other tasks. After [`SAMPLES`] samples of a kind without an estimate, the kind counts as
//! known, so exploration always ends.

use std::collections::{HashMap, VecDeque};

use crate::task::ReadyTask;

/// The most samples of one group on one kind of worker.
pub(super) const SAMPLES: u32 = 16;

/// Tasks whose duration is not known for each kind of worker.
#[derive(Debug, Default)]
pub(super) struct Explorer {
    groups: Vec<Group>,
    by_footprint: HashMap<u64, usize>,
    /// Groups with tasks, in the order of their first task.
    active: Vec<usize>,
    waiting: usize,
}

/// Tasks of one footprint.
#[derive(Debug)]
struct Group {
    tasks: VecDeque<ReadyTask>,
    kinds: Vec<Samples>,
}

/// The number of trials on a kind of worker.
#[derive(Clone, Copy, Debug, Default)]
struct Samples {
    running: u32,
    taken: u32,
}

/// The predicted duration of a task on a kind of worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Estimate {
    /// Whether a worker of the kind can run it.
    pub(super) is_able: bool,
    pub(super) expected_ns: Option<u64>,
}

impl Estimate {
    pub(super) fn is_unknown(&self) -> bool {
        self.is_able && self.expected_ns.is_none()
    }
}

/// What a worker gets.
#[derive(Debug)]
pub(super) enum Offer {
    /// A task to run now, and the group that it is measured for, if any.
    Task(ReadyTask, Option<usize>),
    /// A group whose durations are now known.
    Known(usize),
}

impl Explorer {
    pub(super) fn waiting(&self) -> usize {
        self.waiting
    }

    /// Whether durations of tasks with a footprint are still unknown.
    pub(super) fn is_open(&self, footprint: u64, estimates: &[Estimate]) -> bool {
        let group = self.by_footprint.get(&footprint).map(|&group| &self.groups[group]);
        let taken = |kind: usize| group.map_or(0, |group| group.kinds[kind].taken);
        estimates.iter().enumerate().any(|(kind, estimate)| estimate.is_unknown() && taken(kind) < SAMPLES)
    }

    pub(super) fn push(&mut self, footprint: u64, kinds: usize, task: ReadyTask) {
        let next = self.groups.len();
        let index = *self.by_footprint.entry(footprint).or_insert(next);
        if index == next {
            self.groups.push(Group { tasks: VecDeque::new(), kinds: vec![Samples::default(); kinds] });
        }
        let group = &mut self.groups[index];
        if group.tasks.is_empty() {
            self.active.push(index);
        }
        group.tasks.push_back(task);
        self.waiting += 1;
    }

    /// Something for a worker of kind `kind`. `is_free` tells whether a worker of a kind has no task after the one that
    /// it runs; `estimate` writes the predictions for a task into `estimates`, which finally has those of the returned
    /// one.
    pub(super) fn pop(
        &mut self,
        kind: usize,
        worker: usize,
        estimates: &mut Vec<Estimate>,
        estimate: impl Fn(&ReadyTask, &mut Vec<Estimate>),
        is_free: impl Fn(usize) -> bool,
    ) -> Option<Offer> {
        for place in 0..self.active.len() {
            let index = self.active[place];
            let group = &self.groups[index];
            let first = group.tasks.front().expect("it is active");
            estimate(first, estimates);
            if !group.is_open(estimates) {
                return Some(Offer::Known(index));
            }
            if !estimates[kind].is_able || !first.can_run_on(worker) {
                continue;
            }
            let is_known = estimates[kind].expected_ns.is_some();
            let is_only = estimates.iter().filter(|estimate| estimate.is_able).count() == 1;
            let may_try = group.kinds[kind].running == 0 && group.kinds[kind].taken < SAMPLES;
            if group.is_left_to_less_tried(kind, estimates, &is_free) {
                continue;
            }
            if is_known || is_only || may_try {
                let group = &mut self.groups[index];
                if !is_known {
                    group.kinds[kind].running += 1;
                    group.kinds[kind].taken += 1;
                }
                let task = self.remove(index).expect("it is active");
                return Some(Offer::Task(task, (!is_known).then_some(index)));
            }
        }
        None
    }

    /// Removes a task from a group.
    pub(super) fn remove(&mut self, group: usize) -> Option<ReadyTask> {
        let task = self.groups[group].tasks.pop_front()?;
        self.waiting -= 1;
        if self.groups[group].tasks.is_empty() {
            self.active.retain(|&active| active != group);
        }
        Some(task)
    }

    /// Records that a sample of a group has ended.
    pub(super) fn end(&mut self, group: usize, kind: usize) {
        self.groups[group].kinds[kind].running -= 1;
    }
}

impl Group {
    fn is_open(&self, estimates: &[Estimate]) -> bool {
        estimates
            .iter()
            .zip(&self.kinds)
            .any(|(estimate, kind)| estimate.is_unknown() && kind.taken < SAMPLES)
    }

    /// Whether all of its tasks are for kinds that still need trials, have had fewer than kind `kind`, and have a
    /// worker without a task after the one that it runs.
    fn is_left_to_less_tried(
        &self,
        kind: usize,
        estimates: &[Estimate],
        is_free: impl Fn(usize) -> bool,
    ) -> bool {
        let is_known = !estimates[kind].is_unknown();
        let takes_one = |&other: &usize| {
            let samples = self.kinds[other];
            let may_try = estimates[other].is_unknown() && samples.running == 0 && samples.taken < SAMPLES;
            may_try && (is_known || samples.taken < self.kinds[kind].taken) && is_free(other)
        };
        (0..self.kinds.len()).filter(takes_one).count() >= self.tasks.len()
    }
}
