//! [`Observer`], and the [`Submission`] that it receives.

use std::fmt;
use std::ops::Deref;

use crate::description::TaskDesc;
use crate::machine::Transfer;
use crate::perf::Estimate;

/// Sees every task of a runtime as it is submitted, in the order of each submitting thread. What the runtime adds, such
/// as the folds of a reduction, is not shown; it takes numbers of the order too.
pub trait Observer: Send + Sync {
    /// A task has been submitted. Called on the submitting thread, before the task can run.
    fn submitted(&self, task: &Submission<'_>);

    /// Elements have been copied from one memory node to another, between these times of the runtime's clock. Called on
    /// a thread that waits; a panic is printed, and the run goes on.
    fn transferred(&self, transfer: &Transfer, begin_ns: u64, end_ns: u64) {
        let _ = (transfer, begin_ns, end_ns);
    }
}

/// A submitted task: its [description](TaskDesc), which can be cloned and kept, and where it could run.
pub struct Submission<'a> {
    task: &'a TaskDesc,
    forecast: &'a dyn Forecast,
}

/// What a runtime can say of a task before it runs.
pub(crate) trait Forecast {
    /// Whether worker `worker` can run it.
    fn can_run(&self, worker: usize, task: &TaskDesc) -> bool;

    /// How long it is expected to run there.
    fn expected(&self, worker: usize, task: &TaskDesc) -> Option<Estimate>;
}

impl<'a> Submission<'a> {
    pub(crate) fn new(task: &'a TaskDesc, forecast: &'a dyn Forecast) -> Self {
        Self { task, forecast }
    }

    /// What the task says.
    pub fn desc(&self) -> &'a TaskDesc {
        self.task
    }

    /// Whether worker `worker` can run it: it has a kernel there, and the submitter does not want another one.
    pub fn can_run_on(&self, worker: usize) -> bool {
        self.forecast.can_run(worker, self.task)
    }

    /// How long it is expected to run on worker `worker`, in nanoseconds, without transfers; nothing if nothing like it
    /// has been measured there.
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
