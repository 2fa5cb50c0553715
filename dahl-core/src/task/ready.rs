//! [`ReadyTask`]: a task whose dependencies are met, as schedulers handle it.
#![allow(unsafe_code, reason = "refers to a record that is not free until the task has run")]

use std::ptr::{self, NonNull};
use std::sync::Arc;

use super::record::{Access, Kind, Record};
use crate::access::AccessMode;
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

    /// The record, while it is looked at.
    pub(crate) fn peek(&self) -> &Record {
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

    /// Whether worker `worker` can run it: it has a kernel there, and the submitter does not want another one.
    pub fn can_run_on(&self, worker: usize) -> bool {
        let record = self.peek();
        let shared = self.shared();
        let info = shared.worker(worker);
        let is_there = match shared.devices() {
            Some(devices) if !info.is_cpu() => {
                let is_kernel = matches!(record.body().kind, Kind::Kernel);
                is_kernel && devices.can_run(info.node - 1, self.codelet())
            }
            _ => true,
        };
        is_there && record.body().worker.is_none_or(|forced| forced == worker)
    }

    /// How long it is expected to run on worker `worker`, in nanoseconds, without transfers; nothing if nothing like it
    /// has been measured there.
    pub fn expected_ns(&self, worker: usize) -> Option<u64> {
        let shared = self.shared();
        shared.models().expected_ns(&shared.worker(worker).kind, self.peek())
    }

    /// Bytes that would be copied if it ran on worker `worker`.
    pub fn missing_bytes(&self, worker: usize) -> usize {
        let node = self.shared().worker(worker).node;
        self.missing(node).map(|(_, bytes)| bytes).sum()
    }

    /// How long the copies take that it needs on worker `worker`, the links being free, in nanoseconds.
    pub fn transfer_ns(&self, worker: usize) -> u64 {
        let shared = self.shared();
        let Some(devices) = shared.devices() else { return 0 };
        let node = shared.worker(worker).node;
        self.missing(node).map(|(from, bytes)| devices.transfer_ns(from, node, bytes)).sum()
    }

    /// For each array that it reads and that is not at memory node `node`: where it is, and its bytes.
    fn missing(&self, node: usize) -> impl Iterator<Item = (usize, usize)> {
        let reads = self.peek().accesses().filter(|access| access.body().mode != AccessMode::W);
        reads.filter_map(Access::array).filter_map(move |array| array.missing_at(node))
    }

    fn shared(&self) -> &Shared {
        // SAFETY: the arrays of a task that has not been completed keep the runtime.
        unsafe { self.shared.as_ref() }
    }

    /// The priority that the submitter gave; 0 if none. Larger is sooner.
    pub fn priority(&self) -> i32 {
        self.peek().body().priority
    }
}
