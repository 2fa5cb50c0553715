//! [`Kinds`]: which workers are of one kind, and what is known of a task for each kind.

use super::Rule;
use super::explorer::Estimate;
use crate::scheduler::WorkerInfo;
use crate::task::ReadyTask;

/// The kinds of workers.
#[derive(Debug, Default)]
pub(super) struct Kinds {
    /// The kind of each worker.
    pub(super) of: Vec<usize>,
    /// The workers of each kind.
    members: Vec<Vec<usize>>,
    /// Of each kind, one worker for each memory node.
    places: Vec<Vec<usize>>,
}

impl Kinds {
    pub(super) fn new(workers: &[WorkerInfo]) -> Self {
        let mut names: Vec<&str> = Vec::new();
        let mut kinds = Self::default();
        for (worker, info) in workers.iter().enumerate() {
            let known = names.iter().position(|&name| name == info.kind);
            let kind = known.unwrap_or(names.len());
            if known.is_none() {
                names.push(&info.kind);
                kinds.members.push(Vec::new());
                kinds.places.push(Vec::new());
            }
            kinds.of.push(kind);
            if kinds.members[kind].iter().all(|&other: &usize| workers[other].node != info.node) {
                kinds.places[kind].push(worker);
            }
            kinds.members[kind].push(worker);
        }
        kinds
    }

    /// How long a task runs on each kind; if that is to be measured and `rule` counts transfers, how long copies take as well.
    pub(super) fn estimate(&self, rule: Rule, task: &ReadyTask, estimates: &mut Vec<Estimate>) {
        estimates.clear();
        estimates.extend(self.members.iter().map(|members| {
            let able = members.iter().find(|&&worker| task.can_run_on(worker));
            let expected_ns = if task.is_combination() {
                Some(0)
            } else {
                able.and_then(|&worker| task.expected_ns(worker))
            };
            Estimate { is_able: able.is_some(), expected_ns, copies_ns: 0 }
        }));
        if rule.counts_transfers && estimates.iter().any(Estimate::is_unknown) {
            self.count_copies(task, estimates);
        }
    }

    /// Adds how long the copies take: of what a task reads; of one that reads nothing, those of what it writes to where that was.
    fn count_copies(&self, task: &ReadyTask, estimates: &mut [Estimate]) {
        let copies_ns =
            |worker: &usize| task.returning_ns(*worker).unwrap_or_else(|| task.transfer_ns(*worker));
        for (places, estimate) in self.places.iter().zip(estimates) {
            let able = places.iter().filter(|&&worker| task.can_run_on(worker));
            estimate.copies_ns = able.map(copies_ns).min().unwrap_or(0);
        }
    }
}
