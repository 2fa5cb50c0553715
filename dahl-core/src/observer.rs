//! [`Observer`]: sees every task as it is submitted.

use std::fmt;
use std::panic::Location;

use crate::access::AccessMode;
use crate::codelet::Codelet;
use crate::device::Transfer;
use crate::task::Record;

/// Sees every task of a runtime as it is submitted, in the order of each submitting thread. What the runtime adds, such
/// as the folds of a reduction, is not shown; it takes numbers of the order too.
pub trait Observer: Send + Sync {
    /// A task has been submitted. Called on the submitting thread, before the task can run.
    fn submitted(&self, task: &Submission<'_>);

    /// Elements have been copied from one memory node to another, between these times of the runtime's clock.
    fn transferred(&self, transfer: &Transfer, begin_ns: u64, end_ns: u64) {
        let _ = (transfer, begin_ns, end_ns);
    }
}

/// A submitted task, as data.
pub struct Submission<'a>(&'a Record);

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
    pub(crate) fn new(record: &'a Record) -> Self {
        Self(record)
    }

    /// The number of the task in the order of submission.
    pub fn sequence(&self) -> u64 {
        self.0.body().sequence
    }

    /// The codelet.
    pub fn codelet(&self) -> &'static Codelet {
        self.0.body().codelet.expect("a submitted task has a codelet")
    }

    /// Whether the task runs over one of its inputs (`_self`).
    pub fn is_in_place(&self) -> bool {
        self.0.body().in_place
    }

    /// The name that the submitter gave.
    pub fn name(&self) -> Option<&'static str> {
        self.0.body().name
    }

    /// The bytes of the plain arguments, one after the other.
    pub fn arguments(&self) -> &'a [u8] {
        &self.0.body().arguments
    }

    /// The line that submitted the task.
    pub fn location(&self) -> &'static Location<'static> {
        self.0.body().location
    }

    /// The accesses, in the order of the declaration.
    pub fn accesses(&self) -> impl Iterator<Item = SubmittedAccess> + 'a {
        self.0.accesses().map(|access| {
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
