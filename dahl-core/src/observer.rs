//! [`Observer`]: sees every task as it is submitted.

use std::fmt;
use std::panic::Location;
use std::ptr;

use crate::access::AccessMode;
use crate::codelet::Codelet;
use crate::engine::Shared;
use crate::footprint;
use crate::machine::Transfer;
use crate::task::{Access, Kind, Place, Record};

/// Sees every task of a runtime as it is submitted, in the order of each submitting thread. What the runtime adds, such
/// as the folds of a reduction, is not shown; it takes numbers of the order too.
pub trait Observer: Send + Sync {
    /// A task has been submitted. Called on the submitting thread, before the task can run.
    fn submitted(&self, task: &Submission<'_>);

    /// Elements have been copied from one memory node to another, between these times of the runtime's clock. Called on
    /// a thread that waits; a panic is printed, and the run goes on.
    fn transferred(&self, transfer: &Transfer, begin_ns: u64, end_ns: u64) {
        let _ = (transfer, begin_ns, end_ns);
    }
}

/// A submitted task, as data.
pub struct Submission<'a> {
    record: &'a Record,
    shared: &'a Shared,
}

/// An array that a task uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArrayUse {
    /// The number of the array. Numbers are given anew when an array is gone.
    pub array: u32,
    /// What the task does with it.
    pub mode: AccessMode,
    /// Its bytes.
    pub bytes: usize,
}

/// One access of a submitted task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubmittedAccess {
    /// The number of the array; nothing for scratch. Numbers are given anew when an array is gone.
    pub array: Option<u32>,
    /// What the task does with it.
    pub mode: AccessMode,
    /// The extents of the access.
    pub extents: Vec<usize>,
    /// Its strides, in elements.
    pub strides: Vec<isize>,
    /// Elements from the start of the array's buffer to the first one.
    pub offset: usize,
}

impl<'a> Submission<'a> {
    pub(crate) fn new(record: &'a Record, shared: &'a Shared) -> Self {
        Self { record, shared }
    }

    /// The number of the task in the order of submission.
    pub fn sequence(&self) -> u64 {
        self.record.body().sequence
    }

    /// The codelet.
    pub fn codelet(&self) -> &'static Codelet {
        self.record.body().codelet.expect("a submitted task has a codelet")
    }

    /// Whether the task runs over one of its inputs (`_self`).
    pub fn is_in_place(&self) -> bool {
        self.record.body().in_place
    }

    /// The name that the submitter gave.
    pub fn name(&self) -> Option<&'static str> {
        self.record.body().name
    }

    /// The bytes of the plain arguments, one after the other.
    pub fn arguments(&self) -> &'a [u8] {
        &self.record.body().arguments
    }

    /// The line that submitted the task.
    pub fn location(&self) -> &'static Location<'static> {
        self.record.body().location
    }

    /// The priority that the submitter gave; 0 if none. Larger is sooner.
    pub fn priority(&self) -> i32 {
        self.record.body().priority
    }

    /// A number that tasks of one codelet share whose arrays have the same extents: what durations depend on.
    pub fn footprint(&self) -> u64 {
        let codelet = self.record.body().codelet.map_or(0, |codelet| ptr::from_ref(codelet).addr() as u64);
        let extents = self.record.operands().map(|access| access.body().layout.extents());
        footprint::hash_after(codelet, extents)
    }

    /// Whether worker `worker` can run it: it has a kernel there, and the submitter does not want another one.
    pub fn can_run_on(&self, worker: usize) -> bool {
        let (body, shared) = (self.record.body(), self.shared);
        let is_there = match body.kind {
            Kind::Kernel => {
                shared.has_kernel(worker, self.codelet())
                    && body.kernel.is_none_or(|kernel| shared.is_for(worker, kernel))
            }
            _ => shared.worker(worker).is_cpu() || shared.can_reduce(worker, self.record),
        };
        is_there
            && match body.place {
                Place::Any => true,
                Place::Worker(wanted) => worker == wanted,
                Place::KindOf(wanted) => shared.worker(worker).kind == shared.worker(wanted).kind,
            }
    }

    /// How long it is expected to run on worker `worker`, in nanoseconds, without transfers; nothing if nothing like it
    /// has been measured there.
    pub fn expected_ns(&self, worker: usize) -> Option<u64> {
        self.shared.expected(worker, self.record).map(|estimate| estimate.ns)
    }

    /// The arrays that it uses, in the order of the declaration.
    pub fn arrays(&self) -> impl Iterator<Item = ArrayUse> + use<'a> {
        let with_array = |access: &'a Access| Some((access, access.array()?));
        self.record.accesses().filter_map(with_array).map(|(access, array)| ArrayUse {
            array: array.id(),
            mode: access.body().mode,
            bytes: array.bytes(),
        })
    }

    /// The accesses, in the order of the declaration.
    pub fn accesses(&self) -> impl Iterator<Item = SubmittedAccess> + 'a {
        self.record.accesses().map(|access| {
            let body = access.body();
            SubmittedAccess {
                array: access.array().map(|array| array.id()),
                mode: body.mode,
                extents: body.layout.extents().to_vec(),
                strides: body.layout.strides().to_vec(),
                offset: body.layout.offset,
            }
        })
    }
}

impl fmt::Debug for Submission<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.codelet().name, self.sequence())
    }
}
