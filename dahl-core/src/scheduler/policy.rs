//! [`Scheduler`]: the interface of a scheduling policy.

use std::fmt;

use super::workers::Workers;
use crate::observer::Submission;
use crate::task::ReadyTask;

/// Decides which worker runs which ready task.
///
/// Its methods are called by many threads at once and must not wait. Every task that is pushed must be popped by
/// somebody: a task that is lost is never run, and what depends on it waits for ever. They must not panic: that ends the
/// process. A task that is popped for a worker which [cannot run it](ReadyTask::can_run_on) is given to one that can.
/// When a runtime has been dropped, what is submitted on its arrays is popped for any worker, or for none, by
/// the submitting thread.
pub trait Scheduler: Send + Sync {
    /// The name by which `Runtime::builder().scheduler(..)` and `DAHL_SCHED` know it.
    fn name(&self) -> &'static str;

    /// Called once, before anything else: the workers that there are.
    fn start(&mut self, workers: &Workers) {
        let _ = workers;
    }

    /// A task has been submitted, on the submitting thread, before it is pushed. What the runtime adds, such as the folds
    /// of a reduction, is pushed without.
    fn submitted(&self, task: &Submission<'_>) {
        let _ = task;
    }

    /// Takes a task that has become ready; `worker` is the worker whose task made it so, if it was one.
    fn push(&self, task: ReadyTask, worker: Option<usize>);

    /// A task for `worker`; for the submitting thread, which helps, if there is none.
    fn pop(&self, worker: Option<usize>) -> Option<ReadyTask>;

    /// A task has ended that was popped, or that a worker went on with: its [number](ReadyTask::sequence), and the worker that ran it.
    fn completed(&self, sequence: u64, worker: Option<usize>) {
        let _ = (sequence, worker);
    }

    /// Whether it wakes workers itself, by [`Workers::wake`]: it must if it keeps a task for one worker, which may sleep.
    /// Otherwise the runtime wakes some worker after each push, if a core is free for it, and whoever wakes up pops.
    fn wakes_workers(&self) -> bool {
        false
    }

    /// Whether a worker may go on at once with one of the tasks that its own has made ready and that it can run: that is neither
    /// [pushed](Self::push) nor [popped](Self::pop). After 64 of these in a row the next one is pushed if
    /// another waits.
    fn lets_workers_go_on(&self) -> bool {
        false
    }
}

impl fmt::Debug for dyn Scheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Scheduler({})", self.name())
    }
}

/// Whether a task is right for `worker` of so many: it can run it, or nobody can, such as what must run on a device that
/// is lost; then whoever takes it lets it fail.
pub(super) fn suits(task: &ReadyTask, worker: usize, workers: usize) -> bool {
    task.can_run_on(worker) || !(0..workers).any(|other| task.can_run_on(other))
}
