//! [`LifoSlot`]: the task that a worker runs next, ahead of its queue.

use crate::engine::Shared;
use crate::task::ReadyTask;

/// The task that a worker runs next: one that its last task has made ready. It is neither pushed nor popped, and nobody is
/// woken for it: of tasks that follow each other, two workers would only take them from each other.
#[derive(Debug, Default)]
pub(crate) struct LifoSlot {
    /// The worker, if its scheduler lets it keep tasks.
    worker: Option<usize>,
    task: Option<ReadyTask>,
    in_a_row: u32,
}

/// After so many tasks the next one is pushed if there is another: what waits for the worker has its turn.
const MOST: u32 = 64;

impl LifoSlot {
    /// The slot of a worker, whose thread takes tasks from here before others.
    pub(super) fn of(worker: usize, shared: &Shared) -> Self {
        Self { worker: shared.lets_workers_go_on().then_some(worker), ..Self::default() }
    }

    /// Keeps a task that has become ready, if the worker can run it next; else gives it back.
    pub(crate) fn keep(&mut self, task: ReadyTask) -> Option<ReadyTask> {
        let is_for = |worker| {
            task.forced_worker().is_none() && task.wants_prefetch().is_none() && task.can_run_on(worker)
        };
        if self.task.is_some() || !self.worker.is_some_and(is_for) {
            return Some(task);
        }
        self.task = Some(task);
        None
    }

    /// The task that was kept.
    #[inline]
    pub(super) fn take(&mut self, shared: &Shared) -> Option<ReadyTask> {
        let Some(task) = self.task.take() else {
            self.in_a_row = 0;
            return None;
        };
        self.in_a_row += 1;
        if self.in_a_row <= MOST {
            return Some(task);
        }
        self.in_a_row = 0;
        Some(self.swap_with_next(task, shared))
    }

    /// Pushes a task that was kept, and returns the next one, if there is another.
    #[cold]
    fn swap_with_next(&self, task: ReadyTask, shared: &Shared) -> ReadyTask {
        let Some(other) = self.worker.and_then(|worker| shared.next_task(worker)) else { return task };
        shared.push(task, self.worker);
        other
    }
}
