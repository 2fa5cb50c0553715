//! [`TraceEvent`]: an event that one thread records and another writes.

use std::sync::Arc;

use dahl_trace::format::RunEnergy;

use super::clock_probe::Comparison;
use super::task_times::TaskTimes;
use crate::description::{ArrayId, TaskDesc};
use crate::error::Failure;
use crate::machine::Transfer;

/// An event that a thread records.
#[derive(Debug)]
pub(super) enum TraceEvent {
    /// An event whose order matters, with its number in that order.
    Ordered(u64, Ordered),
    /// A task has ended.
    Ended(Ended),
    /// The reserved bytes of a memory node have changed by `bytes`.
    Reserved { node: usize, bytes: i64, at_ns: u64 },
    /// The mean power of a domain, which belongs to a memory node, between two readings of its counter.
    Power { domain: Arc<str>, node: usize, from_ns: u64, to_ns: u64, watts: f64 },
    /// The clock was compared with that of rank 0.
    Compared(Comparison),
    /// The energy of the run.
    Energy(Box<RunEnergy>),
}

/// An event that changes the dependencies between tasks, or the set of arrays.
#[derive(Debug)]
pub(super) enum Ordered {
    /// A task is submitted.
    Task(Submitted),
    /// A replay begins.
    Replay(Vec<ReplayedStep>),
    /// A discarded value is removed, or the host waits for an exclusive access to this array.
    Host(ArrayId),
    /// A partition begins: an access to the whole array, and one to each part.
    Split(Box<TaskDesc>),
    /// A partition ends. If its parts were exclusive, so does the split's access to the whole array.
    Join { join: Box<TaskDesc>, whole: Option<ArrayId> },
    /// Elements were copied, between these times.
    Transferred { transfer: Transfer, begin_ns: u64, end_ns: u64 },
    /// This array was freed.
    Gone(ArrayId),
}

/// A task, as submitted.
#[derive(Debug)]
pub(super) struct Submitted {
    pub(super) desc: Box<TaskDesc>,
    /// The arrays of its accesses by the ids that users see: a private buffer of a reduction counts as the array.
    pub(super) known_as: Vec<Option<ArrayId>>,
    pub(super) at_ns: u64,
    /// What its thread did by itself since its submission before.
    pub(super) host_ns: Option<u64>,
    /// The bytes of its arrays, unless it is a step of a program.
    pub(super) bytes: Option<u64>,
}

/// A step of a program that is replayed.
#[derive(Debug)]
pub(super) struct ReplayedStep {
    /// Its task, if it is one.
    pub(super) task: Option<Submitted>,
    /// The steps that come after it, by number.
    pub(super) after: Box<[u32]>,
}

/// A task that has ended.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) sequence: u64,
    /// None for the host.
    pub(super) worker: Option<usize>,
    pub(super) times: TaskTimes,
    pub(super) ready_ns: u64,
    pub(super) ended_ns: u64,
    pub(super) failure: Option<Failed>,
}

/// The reason why a task has no result.
#[derive(Debug)]
pub(super) enum Failed {
    Itself(Arc<Failure>),
    Cancelled(Arc<Failure>),
}
