//! [`TransferWait`]: a split or a join that is ready, and runs when its elements have come to the main memory.
#![allow(unsafe_code, reason = "keeps a submitted task until it is completed")]

use std::ptr::NonNull;
use std::sync::Arc;

use super::record::Submitted;
use crate::cuda::HostFetch;

/// A split or a join that was handed over: the one handle of it.
#[derive(Debug)]
pub(crate) struct TransferWait {
    task: NonNull<Submitted>,
    /// Of its elements, those that may still be on their way.
    fetches: Vec<Arc<HostFetch>>,
}

// SAFETY: a record may be handled by any thread, and this is the only handle of its task.
unsafe impl Send for TransferWait {}

impl TransferWait {
    pub(crate) fn new(task: &Submitted, fetches: Vec<Arc<HostFetch>>) -> Self {
        Self { task: NonNull::from(task), fetches }
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
    pub(crate) fn into_task<'r>(self) -> &'r Submitted {
        // SAFETY: the record is not free before the task is completed, which takes this value.
        unsafe { self.task.as_ref() }
    }
}
