//! [`ReadyTask`]: a task whose dependencies are met, as schedulers handle it.
#![allow(unsafe_code, reason = "refers to a record that is not free until the task has run")]

use std::ptr::{self, NonNull};
use std::sync::Arc;

use super::record::{Access, Record};
use crate::runtime::Shared;

/// A task whose dependencies are met. Whoever holds it must see that it is run: it is neither cloned nor forgotten.
#[derive(Debug)]
pub struct ReadyTask {
    record: NonNull<Record>,
    /// The runtime that it belongs to, which its arrays keep.
    shared: NonNull<Shared>,
}

// SAFETY: a record may be handled by any thread, and this is its only `ReadyTask`.
unsafe impl Send for ReadyTask {}

impl ReadyTask {
    pub(crate) fn new(record: &Record, shared: &Shared) -> Self {
        Self { record: NonNull::from(record), shared: NonNull::from(shared) }
    }

    /// Whether it is a task of this runtime.
    pub(crate) fn is_of(&self, shared: &Shared) -> bool {
        ptr::eq(self.shared.as_ptr(), shared)
    }

    /// Gives it to the runtime that it belongs to.
    #[cold]
    pub(crate) fn send_home(self) {
        // Its arrays keep the runtime until it is completed; this clone does for the rest of the call.
        let shared = self.peek().accesses().find_map(Access::array).map(|array| Arc::clone(array.shared()));
        shared.expect("a task has an array").take_home(self);
    }

    /// The record. It stays until the task has been completed.
    pub(crate) fn record<'r>(self) -> &'r Record {
        // SAFETY: the record is not free before it is completed, which takes this value.
        unsafe { self.record.as_ref() }
    }

    fn peek(&self) -> &Record {
        // SAFETY: as in `record`.
        unsafe { self.record.as_ref() }
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
