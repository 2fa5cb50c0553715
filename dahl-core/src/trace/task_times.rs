//! [`TaskTimes`]: the times that a worker records for the task that it runs.

use crate::codelet::Codelet;
use crate::description::TaskDesc;
use crate::perf::Models;

/// What a worker notes of the task that it runs, until it has ended.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TaskTimes {
    /// When the worker took it.
    pub(crate) taken_ns: u64,
    /// When its data are at the worker's memory node, if they must come there.
    pub(crate) arrived_ns: u64,
    /// When its kernel was called; nothing if it was not.
    pub(crate) begin_ns: Option<u64>,
    /// How long that took; nothing if it did not return.
    pub(crate) kernel_ns: Option<u64>,
    pub(crate) kernel: Option<&'static str>,
    /// How long the model expected it to take.
    pub(crate) predicted_ns: Option<u64>,
    /// Whether idle workers may have helped.
    pub(crate) team: bool,
}

impl TaskTimes {
    /// That of a task that is taken now.
    pub(crate) fn taken_at(now_ns: u64) -> Self {
        Self { taken_ns: now_ns, ..Self::default() }
    }

    /// Notes which kernel is about to run, before the model learns how long it takes.
    pub(crate) fn with(
        &mut self,
        models: &Models,
        kind: &str,
        codelet: &'static Codelet,
        kernel: &'static str,
        task: &TaskDesc,
    ) {
        self.kernel = Some(kernel);
        self.predicted_ns = models.estimate(kind, codelet, kernel, task).map(|estimate| estimate.ns);
    }
}
