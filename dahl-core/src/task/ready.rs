//! [`ReadyTask`]: a task whose dependencies are met, as schedulers handle it.
#![allow(unsafe_code, reason = "refers to a record that is not free until the task has run")]

use std::ptr::NonNull;

use super::record::Record;

/// A task whose dependencies are met. Whoever holds it must see that it is run: it is neither cloned nor forgotten.
#[derive(Debug)]
pub struct ReadyTask(NonNull<Record>);

// SAFETY: a record may be handled by any thread, and this is its only `ReadyTask`.
unsafe impl Send for ReadyTask {}

impl ReadyTask {
    pub(crate) fn new(record: &Record) -> Self {
        Self(NonNull::from(record))
    }

    /// The record. It stays until the task has been completed.
    pub(crate) fn record<'r>(self) -> &'r Record {
        // SAFETY: the record is not free before it is completed, which takes this value.
        unsafe { self.0.as_ref() }
    }

    fn peek(&self) -> &Record {
        // SAFETY: as in `record`.
        unsafe { self.0.as_ref() }
    }

    /// The worker that must run it, if the submitter said so.
    pub(crate) fn forced_worker(&self) -> Option<usize> {
        self.peek().body().worker
    }

    /// The codelet's name.
    pub fn codelet(&self) -> &'static str {
        self.peek().body().codelet.map_or("", |codelet| codelet.name)
    }

    /// The number of the task in the order of submission.
    pub fn sequence(&self) -> u64 {
        self.peek().body().sequence
    }

    /// The priority that the submitter gave; 0 if none. Larger is sooner.
    pub fn priority(&self) -> i32 {
        self.peek().body().priority
    }
}
