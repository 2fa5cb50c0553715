//! [`TaskTimes`]: the times that a worker records for the task that it runs.

use crate::codelet::Codelet;
use crate::description::TaskDesc;
use crate::perf::Models;

/// The times of the task that a worker runs, until it has ended.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TaskTimes {
    /// When the worker took it.
    pub(crate) taken_ns: u64,
    /// When its data arrive at the worker's memory node, if a transfer is needed.
    pub(crate) arrived_ns: u64,
    /// When its kernel was called; none if it was not.
    pub(crate) begin_ns: Option<u64>,
    /// The duration of the call; none if it did not return.
    pub(crate) kernel_ns: Option<u64>,
    pub(crate) kernel: Option<&'static str>,
    /// The predicted duration.
    pub(crate) predicted_ns: Option<u64>,
    /// Whether idle workers may have helped.
    pub(crate) team: bool,
}

impl TaskTimes {
    /// The times of a task that is taken now.
    pub(crate) fn taken_at(now_ns: u64) -> Self {
        Self { taken_ns: now_ns, ..Self::default() }
    }

    /// Records which kernel is about to run, before the model is updated with its duration.
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
