//! [`TransferWait`]: a split or a join that is ready, and runs when its elements have come to the main memory.

use std::sync::Arc;

use super::ready::ReadyTask;
use crate::cuda::HostFetch;

/// A split or a join that was handed over: the one handle of it.
#[derive(Debug)]
pub(crate) struct TransferWait {
    task: ReadyTask,
    /// Of its elements, those that may still be on their way.
    fetches: Vec<Arc<HostFetch>>,
}

impl TransferWait {
    pub(crate) fn new(task: ReadyTask, fetches: Vec<Arc<HostFetch>>) -> Self {
        Self { task, fetches }
    }

    /// A device from which elements are on their way; nothing if all have come, or will not.
    pub(crate) fn next_device(&mut self) -> Option<usize> {
        while let Some(fetch) = self.fetches.last() {
            match fetch.is_passed() {
                Ok(false) => return fetch.device(),
                // What an error means comes out where the elements are brought home.
                Ok(true) | Err(_) => self.fetches.pop(),
            };
        }
        None
    }

    /// The task, for who runs it.
    pub(crate) fn into_task(self) -> ReadyTask {
        self.task
    }
}
