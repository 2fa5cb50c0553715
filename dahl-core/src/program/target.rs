//! [`Target`]: where the tasks of a replay run, and how long they are expected to take there.

use super::array_spec::{ArraySpec, Place};
use super::device_plan::PlannedStep;
use super::step_kind::StepKind;
use crate::description::TaskDesc;
use crate::executor::Executor;
use crate::observer::Forecast as _;

/// Where the tasks of a replay run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// On a device, as one graph.
    Graph,
    /// On workers of the kind of this one.
    Kind(usize),
    /// Each where the scheduler places it.
    Any,
}

impl Target {
    /// Its name in texts.
    pub(super) fn name(self, executor: &Executor) -> String {
        match self {
            Self::Graph => "as a CUDA graph".to_owned(),
            Self::Kind(worker) => format!("on workers of the kind `{}`", executor.worker(worker).kind),
            Self::Any => "task by task, where the scheduler places each".to_owned(),
        }
    }

    /// The workers that are to run its tasks.
    fn workers(self, executor: &Executor) -> Vec<usize> {
        let kind = |worker: usize| &executor.worker(worker).kind;
        let runs = |worker: &usize| match self {
            Self::Graph => first_device(executor) == Some(*worker),
            Self::Kind(of) => kind(*worker) == kind(of),
            Self::Any => true,
        };
        (0..executor.workers()).filter(runs).collect()
    }

    /// Whether its workers have kernels for all of these steps. Tasks that end reductions are left to others where it has none.
    fn can_run(self, executor: &Executor, steps: &[PlannedStep<'_>]) -> bool {
        let workers = self.workers(executor);
        steps.iter().all(|step| match step.kind {
            StepKind::Task(desc) if desc.is_kernel() => {
                workers.iter().any(|&worker| executor.host().can_run(worker, desc))
            }
            StepKind::Flow(_) => self == Self::Any,
            StepKind::Task(_) | StepKind::Split(_) | StepKind::Join(_) | StepKind::Forget => true,
        })
    }

    /// The expected duration of a replay in nanoseconds: each step, in their order, on the worker where it ends first. Arguments
    /// that are only read come from main memory, and what the program changes is where an earlier replay has left it. None if
    /// the performance models do not know a task on any of the workers, or a branch decides.
    pub(super) fn expected_ns(
        self,
        executor: &Executor,
        arrays: &[ArraySpec],
        steps: &[PlannedStep<'_>],
    ) -> Option<u64> {
        let (workers, everyone) = (self.workers(executor), (0..executor.workers()).collect::<Vec<_>>());
        let mut course = Course::new(executor, arrays, steps);
        let mut ready_at = vec![0_u64; steps.len()];
        let mut end = 0;
        for (number, step) in steps.iter().enumerate() {
            let mut ends_at = ready_at[number];
            match step.kind {
                StepKind::Task(desc) => {
                    let able = if course.any_can_run(&workers, desc) { &workers } else { &everyone };
                    ends_at = course.run(step, desc, able, ready_at[number])?;
                }
                StepKind::Flow(_) => return None,
                StepKind::Split(_) | StepKind::Join(_) | StepKind::Forget => course.places.follow(step),
            }
            for &after in step.after {
                ready_at[after as usize] = ready_at[after as usize].max(ends_at);
            }
            end = end.max(ends_at);
        }
        Some(end)
    }
}

/// The expected course of a replay: when each worker has done what it got, and where the arrays are then.
struct Course<'a> {
    executor: &'a Executor,
    places: Places<'a>,
    /// In nanoseconds from the beginning on.
    free_at: Vec<u64>,
}

impl<'a> Course<'a> {
    fn new(executor: &'a Executor, arrays: &'a [ArraySpec], steps: &[PlannedStep<'_>]) -> Self {
        Self { executor, places: Places::new(arrays, steps), free_at: vec![0; executor.workers()] }
    }

    fn any_can_run(&self, workers: &[usize], desc: &TaskDesc) -> bool {
        workers.iter().any(|&worker| self.executor.host().can_run(worker, desc))
    }

    /// Gives a task that is ready at `ready_at` to the worker on which it ends first. Returns when; nothing if the models do not know
    /// the task on any of these workers.
    fn run(
        &mut self,
        step: &PlannedStep<'_>,
        desc: &TaskDesc,
        workers: &[usize],
        ready_at: u64,
    ) -> Option<u64> {
        let end_on = |&worker: &usize| Some((self.end_on(worker, step, desc, ready_at)?, worker));
        let (ends_at, worker) = workers.iter().filter_map(end_on).min()?;
        self.free_at[worker] = ends_at;
        self.places.use_at(step, self.executor.worker(worker).node);
        Some(ends_at)
    }

    /// When the task would end on a worker: nothing if that cannot run it, or no model knows it there.
    fn end_on(&self, worker: usize, step: &PlannedStep<'_>, desc: &TaskDesc, ready_at: u64) -> Option<u64> {
        let expected = self.executor.expected(worker, desc)?;
        let begins_at = self.free_at[worker].max(ready_at) + self.copies_ns(worker, step);
        self.executor.host().can_run(worker, desc).then_some(begins_at + expected.ns)
    }

    /// How long it takes to copy what the step reads to the memory of a worker.
    fn copies_ns(&self, worker: usize, step: &PlannedStep<'_>) -> u64 {
        let Some(devices) = self.executor.devices() else { return 0 };
        let node = self.executor.worker(worker).node;
        self.places.missing(step, node).map(|(from, bytes)| devices.transfer_ns(from, node, bytes)).sum()
    }
}

/// The worker of the device that runs graphs.
fn first_device(executor: &Executor) -> Option<usize> {
    (0..executor.workers()).find(|&worker| executor.is_real_device(worker))
}

/// The targets of a program with these steps among which the fastest is to be found, with their expected durations. None if the
/// scheduler places each task, or there is only one kind of workers.
pub(super) fn targets(
    executor: &Executor,
    arrays: &[ArraySpec],
    steps: &[PlannedStep<'_>],
    graph: Option<Target>,
) -> Option<Vec<(Target, Option<u64>)>> {
    if executor.devices().is_none() || !executor.keeps_programs_together() {
        return None;
    }
    let workers = 0..executor.workers();
    let kind = |worker: usize| &executor.worker(worker).kind;
    let firsts = workers.filter(|&worker| (0..worker).all(|other| kind(other) != kind(worker)));
    // The worker of a graph runs its tasks one by one only if it must.
    let of_graph = graph.and_then(|_| first_device(executor));
    let kinds = firsts.filter(|&worker| of_graph.is_none_or(|of_graph| kind(worker) != kind(of_graph)));
    let targets = graph.into_iter().chain(kinds.map(Target::Kind)).chain([Target::Any]);
    let able = targets.filter(|target| *target == Target::Graph || target.can_run(executor, steps));
    Some(able.map(|target| (target, target.expected_ns(executor, arrays, steps))).collect())
}

/// In which memories the arrays of a program are, as sets of nodes.
struct Places<'a> {
    arrays: &'a [ArraySpec],
    nodes: Vec<u64>,
}

/// All nodes.
const EVERYWHERE: u64 = u64::MAX;

/// The set of one node. There are fewer than 64.
fn only(node: usize) -> u64 {
    1 << (node % 64)
}

impl<'a> Places<'a> {
    fn new(arrays: &'a [ArraySpec], steps: &[PlannedStep<'_>]) -> Self {
        let mut nodes = vec![EVERYWHERE; arrays.len()];
        for (array, spec) in arrays.iter().enumerate() {
            let is_changed = || {
                steps.iter().any(|step| {
                    let changes = |(index, other): (usize, &Option<usize>)| {
                        *other == Some(array) && changes(step, index)
                    };
                    step.arrays.iter().enumerate().any(changes)
                })
            };
            if matches!(spec.place, Place::Bound(_)) && !is_changed() {
                nodes[array] = only(0);
            }
        }
        Self { arrays, nodes }
    }

    /// Of each array that a step reads and that is not in this memory: one where it is, and its bytes.
    fn missing(&self, step: &PlannedStep<'_>, node: usize) -> impl Iterator<Item = (usize, usize)> {
        let arrays = step.arrays.iter().enumerate().filter_map(|(index, array)| Some((index, (*array)?)));
        let read = arrays.filter(|&(index, _)| reads(step, index));
        read.filter(move |&(_, array)| self.nodes[array] & only(node) == 0)
            .map(|(_, array)| (self.nodes[array].trailing_zeros() as usize, self.arrays[array].bytes))
    }

    /// Notes that a task has run in this memory.
    fn use_at(&mut self, step: &PlannedStep<'_>, node: usize) {
        for (index, array) in step.arrays.iter().enumerate() {
            let Some(array) = *array else { continue };
            if changes(step, index) {
                self.nodes[array] = only(node);
            } else {
                self.nodes[array] |= only(node);
            }
        }
    }

    /// Parts are where their whole array is, and the other way round.
    fn follow(&mut self, step: &PlannedStep<'_>) {
        let [Some(whole), parts @ ..] = step.arrays else { return };
        if matches!(step.kind, StepKind::Split(_)) {
            parts.iter().flatten().for_each(|&part| self.nodes[part] = self.nodes[*whole]);
        } else if let Some(&part) = parts.iter().flatten().next() {
            self.nodes[*whole] = self.nodes[part];
        }
    }
}

/// Whether a step reads what is in an array.
fn reads(step: &PlannedStep<'_>, index: usize) -> bool {
    matches!(step.kind, StepKind::Task(desc) if desc.access(index).mode != crate::access::AccessMode::W)
}

/// Whether a step changes an array.
fn changes(step: &PlannedStep<'_>, index: usize) -> bool {
    match step.kind {
        StepKind::Task(desc) => !desc.access(index).mode.is_shared(),
        StepKind::Forget | StepKind::Flow(_) => true,
        StepKind::Split(shared) | StepKind::Join(shared) => !shared,
    }
}
