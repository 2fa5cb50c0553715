//! [`Observer`], and the [`Submission`] that it receives.

use std::fmt;
use std::ops::Deref;

use crate::description::TaskDesc;
use crate::machine::Transfer;
use crate::perf::Estimate;

/// Sees every task of a runtime when it is submitted, in the order of each submitting thread. Tasks that the runtime
/// adds, such as the folds of a reduction, are not shown, but have numbers in the order too.
pub trait Observer: Send + Sync {
    /// A task has been submitted. Called on the submitting thread, before the task can run.
    fn submitted(&self, task: &Submission<'_>);

    /// Elements have been copied from one memory node to another, between these times of the runtime's clock. Called on
    /// a waiting thread; a panic is printed, and the run continues.
    fn transferred(&self, transfer: &Transfer, begin_ns: u64, end_ns: u64) {
        let _ = (transfer, begin_ns, end_ns);
    }
}

/// A submitted task: its [description](TaskDesc), which can be cloned and kept, and the workers that could run it.
pub struct Submission<'a> {
    task: &'a TaskDesc,
    forecast: &'a dyn Forecast,
}

/// The runtime's predictions about a task before it runs.
pub(crate) trait Forecast {
    /// Whether worker `worker` can run it.
    fn can_run(&self, worker: usize, task: &TaskDesc) -> bool;

    /// The predicted duration there.
    fn expected(&self, worker: usize, task: &TaskDesc) -> Option<Estimate>;
}

impl<'a> Submission<'a> {
    pub(crate) fn new(task: &'a TaskDesc, forecast: &'a dyn Forecast) -> Self {
        Self { task, forecast }
    }

    /// The description of the task.
    pub fn desc(&self) -> &'a TaskDesc {
        self.task
    }

    /// Whether worker `worker` can run it: it has a kernel, and the submitter named no other.
    pub fn can_run_on(&self, worker: usize) -> bool {
        self.forecast.can_run(worker, self.task)
    }

    /// The predicted duration on worker `worker`, in nanoseconds, without transfers; none if no similar task has been
    /// measured there.
    pub fn expected_ns(&self, worker: usize) -> Option<u64> {
        self.forecast.expected(worker, self.task).map(|estimate| estimate.ns)
    }
}

impl Deref for Submission<'_> {
    type Target = TaskDesc;

    fn deref(&self) -> &TaskDesc {
        self.task
    }
}

impl fmt::Debug for Submission<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.task, f)
    }
}
