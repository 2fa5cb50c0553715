//! [`Scheduler`]: the interface of a scheduling policy.

use std::fmt;

use super::workers::Workers;
use crate::observer::Submission;
use crate::task::ReadyTask;

/// Decides which worker runs which ready task.
///
/// Many threads call its methods concurrently. They must not wait. Every task that is pushed must be popped: a lost
/// task never runs, and its successors wait forever. They must not panic: that ends the process. A task that is popped
/// for a worker which [cannot run it](ReadyTask::can_run_on) is passed to one that can. After a runtime has been
/// dropped, tasks that are submitted on its arrays are popped for any worker, or for none, by the submitting thread.
pub trait Scheduler: Send + Sync {
    /// The name in `Runtime::builder().scheduler(..)` and `DAHL_SCHED`.
    fn name(&self) -> &'static str;

    /// Called once, before all other methods, with the workers.
    fn start(&mut self, workers: &Workers) {
        let _ = workers;
    }

    /// A task has been submitted. Called on the submitting thread, before the task is pushed. Tasks that the runtime
    /// adds, such as the folds of a reduction, are pushed without this call.
    fn submitted(&self, task: &Submission<'_>) {
        let _ = task;
    }

    /// Whether [`submitted`](Self::submitted) does something: replays of programs call it only then.
    fn sees_submissions(&self) -> bool {
        true
    }

    /// Whether a program may be kept on workers of one kind, if it is faster there than where the scheduler places its tasks one
    /// by one: for a scheduler that places by time.
    fn keeps_programs_together(&self) -> bool {
        false
    }

    /// A thread of the host begins to wait for tasks. If one thread submits, none comes until what it waits for has ended.
    fn host_waits(&self) {}

    /// Takes a task that has become ready; `worker` is the worker whose task made it ready, if any.
    fn push(&self, task: ReadyTask, worker: Option<usize>);

    /// A task for `worker`; without a worker, for the submitting thread, which helps.
    fn pop(&self, worker: Option<usize>) -> Option<ReadyTask>;

    /// A task has ended that was popped, or that a worker continued with: its [number](ReadyTask::sequence), and the
    /// worker that ran it.
    fn completed(&self, sequence: u64, worker: Option<usize>) {
        let _ = (sequence, worker);
    }

    /// Whether the scheduler itself wakes workers, with [`Workers::wake`]: it must if it keeps a task for one worker,
    /// which may be parked. Otherwise the runtime wakes some worker after each push, if a core is free for it, and the
    /// woken worker pops.
    fn wakes_workers(&self) -> bool {
        false
    }

    /// Whether every worker that can run a task may pop it. Then the
    /// runtime wakes one worker for a task where workers differ, and all of them otherwise. It does not ask a scheduler that
    /// [wakes workers](Self::wakes_workers) itself.
    fn serves_any_worker(&self) -> bool {
        false
    }

    /// Whether a worker may directly continue with a task that its previous task has made ready and that it can run:
    /// such a task is neither [pushed](Self::push) nor [popped](Self::pop). After 64 of these in a row the next one is
    /// pushed if another task waits.
    fn lets_workers_go_on(&self) -> bool {
        false
    }
}

impl fmt::Debug for dyn Scheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Scheduler({})", self.name())
    }
}

/// Whether `worker` may take a task: it can run it, or no worker can, such as a task for a lost device; the task then
/// fails.
pub(super) fn suits(task: &ReadyTask, worker: usize, workers: usize) -> bool {
    task.can_run_on(worker) || !(0..workers).any(|other| task.can_run_on(other))
}
