//! [`LifoSlot`]: the task that a worker runs next, ahead of its queue.

use super::ready::ReadyTask;

/// The task that a worker runs next: one that its last task has made ready. It is neither pushed nor popped, and wakes
/// no worker: two workers would only steal successive tasks from each other.
#[derive(Debug, Default)]
pub(crate) struct LifoSlot {
    /// The worker, if its scheduler lets it keep tasks.
    worker: Option<usize>,
    task: Option<ReadyTask>,
    in_a_row: u32,
}

/// After so many tasks the next one is pushed if there is another, so that other tasks of the worker are not starved.
const MOST: u32 = 64;

impl LifoSlot {
    /// The slot of a worker, whose thread takes tasks from here first.
    pub(crate) fn of(worker: usize) -> Self {
        Self { worker: Some(worker), ..Self::default() }
    }

    /// Keeps a task that has become ready, if the worker can run it next; otherwise returns it.
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

    /// The kept task, and whether another waiting task must run before it.
    #[inline]
    pub(crate) fn take(&mut self) -> Option<(ReadyTask, bool)> {
        let Some(task) = self.task.take() else {
            self.in_a_row = 0;
            return None;
        };
        self.in_a_row += 1;
        let is_last = self.in_a_row > MOST;
        if is_last {
            self.in_a_row = 0;
        }
        Some((task, is_last))
    }
}
