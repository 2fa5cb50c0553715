//! [`TraceEvent`]: an event that one thread records and another writes.

use std::sync::Arc;

use super::task_times::TaskTimes;
use crate::description::{ArrayId, TaskDesc};
use crate::error::Failure;
use crate::machine::Transfer;

/// What a thread notes.
#[derive(Debug)]
pub(super) enum TraceEvent {
    /// Something whose place among others matters, with its number in their order.
    Ordered(u64, Ordered),
    /// A task has ended.
    Ended(Ended),
    /// So many bytes more, or fewer, are reserved at a memory node.
    Reserved { node: usize, bytes: i64, at_ns: u64 },
}

/// What changes which tasks depend on which, or which arrays there are.
#[derive(Debug)]
pub(super) enum Ordered {
    /// A task is submitted.
    Task(Submitted),
    /// A forgotten value is taken away, or the host waits to have this array for itself.
    Host(ArrayId),
    /// A partition begins: an access to the whole, and one to each part.
    Split(Box<TaskDesc>),
    /// A partition ends. If its parts were exclusive, so does the split's access to the whole.
    Join { join: Box<TaskDesc>, whole: Option<ArrayId> },
    /// Elements were copied, between these times.
    Transferred { transfer: Transfer, begin_ns: u64, end_ns: u64 },
    /// This array is gone.
    Gone(ArrayId),
}

/// A task, as it was submitted.
#[derive(Debug)]
pub(super) struct Submitted {
    pub(super) desc: Box<TaskDesc>,
    /// The arrays of its accesses by the ids that users see: a private buffer of a reduction counts as the array.
    pub(super) known_as: Vec<Option<ArrayId>>,
    pub(super) at_ns: u64,
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

/// Why a task has no result.
#[derive(Debug)]
pub(super) enum Failed {
    Itself(Arc<Failure>),
    Cancelled(Arc<Failure>),
}
