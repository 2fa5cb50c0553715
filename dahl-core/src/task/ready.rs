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

/// A task whose dependencies are met. Whoever holds it must see that it is run: it is neither cloned nor forgotten.
#[derive(Debug)]
pub struct ReadyTask {
    task: NonNull<Submitted>,
    /// What it belongs to, which its arrays keep.
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

    /// Gives it to the runtime that it belongs to.
    #[cold]
    pub(crate) fn send_home(self) {
        // Its arrays keep the runtime until it is completed; this clone does for the rest of the call.
        let engine =
            self.peek().accesses().find_map(|access| access.state()).map(|array| Arc::clone(array.engine()));
        engine.expect("a task has an array").take_home(self.task());
    }

    /// The task, for who runs it. It stays until it has been completed.
    pub(crate) fn task<'r>(self) -> &'r Submitted {
        // SAFETY: the record is not free before it is completed, which takes this value.
        unsafe { self.task.as_ref() }
    }

    /// Whether it is the split or the join of a partition, which no scheduler sees.
    pub(crate) fn is_of_partition(&self) -> bool {
        matches!(self.desc().action(), Action::Split | Action::Join)
    }

    /// The task, while it is looked at.
    pub(crate) fn peek(&self) -> &Submitted {
        // SAFETY: as in `task`.
        unsafe { self.task.as_ref() }
    }

    /// What it says.
    #[inline]
    fn desc(&self) -> &TaskDesc {
        self.peek().desc()
    }

    /// The worker that must run it, if the submitter said so.
    pub(crate) fn forced_worker(&self) -> Option<usize> {
        match self.desc().place() {
            Placement::Worker(worker) => Some(worker),
            Placement::Any | Placement::KindOf(_) => None,
        }
    }

    /// The worker to whose memory the submitter wants its inputs copied now.
    pub(crate) fn wants_prefetch(&self) -> Option<usize> {
        self.desc().prefetch()
    }

    /// Copies what it reads to the memory of worker `worker`, if that has one of its own, and room: for a scheduler that
    /// has decided where it will run.
    pub fn prefetch(&self, worker: usize) {
        let node = self.host().worker(worker).node;
        if node == HOME {
            return;
        }
        let requester = Requester { name: self.codelet(), location: self.desc().location() };
        for access in self.peek().operands().filter(|access| access.reads()) {
            if let Some(array) = access.state() {
                // SAFETY: the task is ready and not completed, so it holds its accesses, which read.
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

    /// Whether worker `worker` can run it: it has a kernel there, and the submitter does not want another one.
    pub fn can_run_on(&self, worker: usize) -> bool {
        self.host().can_run(worker, self.desc())
    }

    /// How long it is expected to run on worker `worker`, in nanoseconds, without transfers. Nothing if nothing like it
    /// has been measured there, or not often enough: then it must be.
    pub fn expected_ns(&self, worker: usize) -> Option<u64> {
        self.estimate(worker).map(|estimate| estimate.ns)
    }

    /// A number that tasks of one codelet share whose arrays have the same extents: what durations depend on.
    pub fn footprint(&self) -> u64 {
        self.desc().footprint()
    }

    /// Whether the runtime added it to combine parts of a reduction: it is short, and nobody needs to measure it before
    /// it is placed.
    pub fn is_combination(&self) -> bool {
        self.desc().combination().is_some()
    }

    /// The arrays that it uses, in the order of the declaration.
    pub fn arrays(&self) -> impl Iterator<Item = ArrayUse> {
        self.desc().arrays()
    }

    /// The arrays that would be copied if it ran on worker `worker`, each with how long that takes in nanoseconds, the
    /// links being free.
    pub fn transfers(&self, worker: usize) -> impl Iterator<Item = (ArrayId, u64)> {
        let host = self.host();
        let node = host.worker(worker).node;
        let time =
            move |from, bytes| host.devices().map_or(0, |devices| devices.transfer_ns(from, node, bytes));
        self.missing(node).map(move |(array, from, bytes)| (array, time(from, bytes)))
    }

    /// As [`expected_ns`](Self::expected_ns), and how that is known.
    pub fn estimate(&self, worker: usize) -> Option<Estimate> {
        self.host().expected(worker, self.desc())
    }

    /// Bytes that would be copied if it ran on worker `worker`.
    pub fn missing_bytes(&self, worker: usize) -> usize {
        let node = self.host().worker(worker).node;
        self.missing(node).map(|(.., bytes)| bytes).sum()
    }

    /// How long the copies take that it needs on worker `worker`, the links being free, in nanoseconds.
    pub fn transfer_ns(&self, worker: usize) -> u64 {
        self.transfers(worker).map(|(_, time_ns)| time_ns).sum()
    }

    /// Of a task that reads nothing, how long the copies take of what it writes, from worker `worker` to where that has been
    /// until now. Nothing if it reads something.
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

    /// For each array that it reads and that is not at memory node `node`: its number, where it is, and its bytes.
    pub(crate) fn missing(&self, node: usize) -> impl Iterator<Item = (ArrayId, usize, usize)> {
        let reads = self.peek().operands().filter(|access| access.reads());
        reads.filter_map(|access| access.state()).filter_map(move |array| {
            let (from, bytes) = array.missing_at(node)?;
            Some((array.known_as(), from, bytes))
        })
    }

    /// Bytes of each array that it makes anew, and of each that it changes and that memory node `node` has at hand
    /// until then: what that node would need again. Private buffers are folded, and not wanted there.
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

    /// The priority that the submitter gave; 0 if none. Larger is sooner.
    pub fn priority(&self) -> i32 {
        self.desc().priority()
    }
}
