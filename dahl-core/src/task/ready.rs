//! [`ReadyTask`]: a task whose dependencies are met, as schedulers handle it.
#![allow(unsafe_code, reason = "refers to a record that is not free until the task has run")]

use std::ptr::{self, NonNull};
use std::sync::Arc;

use crate::array_id::ArrayId;
use crate::description::{Action, ArrayUse, Placement, TaskDesc};
use crate::device::Requester;
use crate::graph::{ArrayState, Host, Submitted};
use crate::memory::HOME;
use crate::observer::Forecast;
use crate::perf::Estimate;

/// A task whose dependencies have ended. Its holder must ensure that it runs: it is neither cloned nor leaked.
#[derive(Debug)]
pub struct ReadyTask {
    task: NonNull<Submitted>,
    /// The host that it belongs to, which its arrays keep alive.
    host: NonNull<Host>,
}

// SAFETY: a record may be handled by any thread, and this is its only `ReadyTask`.
unsafe impl Send for ReadyTask {}

impl ReadyTask {
    pub(crate) fn new(task: &Submitted, host: &Host) -> Self {
        Self { task: NonNull::from(task), host: NonNull::from(host) }
    }

    /// Whether it is a task of this host.
    pub(crate) fn is_of(&self, host: &Host) -> bool {
        ptr::eq(self.host.as_ptr(), host)
    }

    /// Passes it to its own runtime.
    #[cold]
    pub(crate) fn send_home(self) {
        // Its arrays keep the runtime alive until it is completed; this clone does so for the rest of the call.
        let engine =
            self.peek().accesses().find_map(|access| access.state()).map(|array| Arc::clone(array.engine()));
        engine.expect("a task has an array").take_home(self.task());
    }

    /// The task, for the thread that runs it. It exists until it has been completed.
    pub(crate) fn task<'r>(self) -> &'r Submitted {
        // SAFETY: the record is not free before it is completed, which takes this value.
        unsafe { self.task.as_ref() }
    }

    /// Whether it is the split or the join of a partition, which no scheduler sees.
    pub(crate) fn is_of_partition(&self) -> bool {
        matches!(self.desc().action(), Action::Split | Action::Join)
    }

    /// The task, for reading.
    pub(crate) fn peek(&self) -> &Submitted {
        // SAFETY: as in `task`.
        unsafe { self.task.as_ref() }
    }

    /// The description.
    #[inline]
    fn desc(&self) -> &TaskDesc {
        self.peek().desc()
    }

    /// The worker that must run it, if the submitter chose one.
    pub(crate) fn forced_worker(&self) -> Option<usize> {
        match self.desc().place() {
            Placement::Worker(worker) => Some(worker),
            Placement::Any | Placement::KindOf(_) | Placement::Prefers(_) => None,
        }
    }

    /// The worker to whose memory the submitter wants the inputs copied now.
    pub(crate) fn wants_prefetch(&self) -> Option<usize> {
        self.desc().prefetch()
    }

    /// Copies the inputs to the memory of worker `worker`, if it has a memory of its own with free space: for a
    /// scheduler that has decided where the task will run.
    pub fn prefetch(&self, worker: usize) {
        let node = self.host().worker(worker).node;
        if node == HOME {
            return;
        }
        let requester = Requester { name: self.codelet(), location: self.desc().location() };
        for access in self.peek().operands().filter(|access| access.reads()) {
            if let Some(array) = access.state() {
                // SAFETY: the task is ready and not completed, so it holds its accesses, and this one reads.
                unsafe { array.prefetch(node, requester) };
            }
        }
    }

    /// The codelet's name.
    pub fn codelet(&self) -> &'static str {
        self.desc().codelet_if_any().map_or("", |codelet| codelet.name)
    }

    /// The number of the task in the order of submission.
    pub fn sequence(&self) -> u64 {
        self.desc().sequence()
    }

    /// Whether worker `worker` can run it: it has a kernel, and the submitter named no other.
    pub fn can_run_on(&self, worker: usize) -> bool {
        self.host().can_run(worker, self.desc())
    }

    /// The same, for a task that the worker which it prefers has given up: it has no room there.
    pub(crate) fn is_able_on(&self, worker: usize) -> bool {
        self.host().is_able(worker, self.desc())
    }

    /// The predicted duration on worker `worker`, in nanoseconds, without transfers. None if no similar task has been
    /// measured there often enough: it must be measured then.
    pub fn expected_ns(&self, worker: usize) -> Option<u64> {
        self.estimate(worker).map(|estimate| estimate.ns)
    }

    /// The footprint's hash: the same for tasks of one codelet whose arrays have the same extents. Predictions of
    /// durations depend on it.
    pub fn footprint(&self) -> u64 {
        self.desc().footprint()
    }

    /// Whether the runtime added it to combine partial results of a reduction: it is short, and need not be measured
    /// before it is placed.
    pub fn is_combination(&self) -> bool {
        self.desc().combination().is_some()
    }

    /// The arrays that it uses, in the order of the declaration.
    pub fn arrays(&self) -> impl Iterator<Item = ArrayUse> {
        self.desc().arrays()
    }

    /// The arrays that would be copied if it ran on worker `worker`, each with the duration in nanoseconds over free
    /// links.
    pub fn transfers(&self, worker: usize) -> impl Iterator<Item = (ArrayId, u64)> {
        let host = self.host();
        let node = host.worker(worker).node;
        let time =
            move |from, bytes| host.devices().map_or(0, |devices| devices.transfer_ns(from, node, bytes));
        self.missing(node).map(move |(array, from, bytes)| (array, time(from, bytes)))
    }

    /// As [`expected_ns`](Self::expected_ns), with its basis.
    pub fn estimate(&self, worker: usize) -> Option<Estimate> {
        self.host().expected(worker, self.desc())
    }

    /// The bytes that would be copied if it ran on worker `worker`.
    pub fn missing_bytes(&self, worker: usize) -> usize {
        let node = self.host().worker(worker).node;
        self.missing(node).map(|(.., bytes)| bytes).sum()
    }

    /// The duration of the transfers that it needs on worker `worker`, over free links, in nanoseconds.
    pub fn transfer_ns(&self, worker: usize) -> u64 {
        self.transfers(worker).map(|(_, time_ns)| time_ns).sum()
    }

    /// For a task without inputs, the duration of transfers of its outputs, from worker `worker` to their previous
    /// location. None if it has inputs.
    pub(crate) fn returning_ns(&self, worker: usize) -> Option<u64> {
        let host = self.host();
        let node = host.worker(worker).node;
        if self.desc().operand_accesses().any(|access| access.reads()) {
            return None;
        }
        let missing = self
            .peek()
            .operands()
            .filter_map(|access| access.state())
            .filter_map(|array| array.missing_at(node));
        let time = |(to, bytes)| host.devices().map_or(0, |devices| devices.transfer_ns(node, to, bytes));
        Some(missing.map(time).sum())
    }

    /// For each input that is not at memory node `node`: its id, its location, and its bytes.
    pub(crate) fn missing(&self, node: usize) -> impl Iterator<Item = (ArrayId, usize, usize)> {
        let reads = self.peek().operands().filter(|access| access.reads());
        reads.filter_map(|access| access.state()).filter_map(move |array| {
            let (from, bytes) = array.missing_at(node)?;
            Some((array.known_as(), from, bytes))
        })
    }

    /// The bytes of each array that it overwrites, and of each that it changes and that is valid at memory node `node`:
    /// what that node would need again. Private buffers are folded, and not needed there.
    pub(crate) fn leaving_bytes(&self, node: usize) -> impl Iterator<Item = usize> {
        let written = self.peek().operands().filter(|access| !access.mode.is_shared());
        let leaving = written.filter_map(move |access| {
            let array = access.state().filter(|array| !array.is_private())?;
            (!access.reads() || array.missing_at(node).is_none()).then_some(array)
        });
        leaving.map(ArrayState::bytes)
    }

    fn host(&self) -> &Host {
        // SAFETY: the arrays of a task that has not been completed keep the runtime.
        unsafe { self.host.as_ref() }
    }

    /// The priority that the submitter set; the default is 0. Larger is sooner.
    pub fn priority(&self) -> i32 {
        self.desc().priority()
    }
}
