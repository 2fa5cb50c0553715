//! [`Kinds`]: which workers are of one kind, and the known durations of a task on each kind.

use super::explorer::Estimate;
use crate::machine::WorkerInfo;
use crate::task::ReadyTask;

/// The kinds of workers.
#[derive(Debug, Default)]
pub(super) struct Kinds {
    /// The kind of each worker.
    pub(super) of: Vec<usize>,
    /// The workers of each kind.
    members: Vec<Vec<usize>>,
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
            }
            kinds.of.push(kind);
            kinds.members[kind].push(worker);
        }
        kinds
    }

    /// The predicted duration of a task on each kind.
    pub(super) fn estimate(&self, task: &ReadyTask, estimates: &mut Vec<Estimate>) {
        estimates.clear();
        estimates.extend(self.members.iter().map(|members| {
            let able = members.iter().find(|&&worker| task.can_run_on(worker));
            let expected_ns = if task.is_combination() {
                Some(0)
            } else {
                able.and_then(|&worker| task.expected_ns(worker))
            };
            Estimate { is_able: able.is_some(), expected_ns }
        }));
    }
}
