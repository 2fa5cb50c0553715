//! [`Event`]: what a thread notes, to be written by another.

use std::panic::Location;
use std::sync::Arc;

use super::run::Run;
use crate::access::AccessMode;
use crate::codelet::Codelet;
use crate::error::Failure;
use crate::machine::Transfer;
use crate::task::{Kind, Record};

/// What a thread notes.
#[derive(Debug)]
pub(super) enum Event {
    /// Something whose place among others matters, with its number in their order.
    Ordered(u64, Ordered),
    /// A task has ended.
    Ended(Ended),
    /// So many bytes more, or fewer, are reserved at a memory node.
    Reserved { node: usize, bytes: i64, at_ns: u64 },
}

/// What changes which tasks depend on which, or which array a slot stands for.
#[derive(Debug)]
pub(super) enum Ordered {
    /// A task is submitted.
    Task(Submitted),
    /// A forgotten value is taken away, or the host waits to have the array of this slot for itself.
    Host(u32),
    /// A partition begins: an access to the whole, and one to each part.
    Split(Box<[Use]>),
    /// A partition ends. If its parts were exclusive, so does the split's access to the whole.
    Join { uses: Box<[Use]>, whole: Option<u32> },
    /// Elements were copied, between these times.
    Transferred { transfer: Transfer, begin_ns: u64, end_ns: u64 },
    /// The array of this slot is gone.
    Gone(u32),
}

/// A task, as it was submitted.
#[derive(Debug)]
pub(super) struct Submitted {
    pub(super) sequence: u64,
    pub(super) codelet: &'static Codelet,
    pub(super) combination: Option<Combination>,
    pub(super) in_place: bool,
    pub(super) uses: Box<[Use]>,
    pub(super) footprint: Footprint,
    pub(super) name: Option<&'static str>,
    pub(super) priority: i32,
    pub(super) location: &'static Location<'static>,
    pub(super) at_ns: u64,
}

/// What a task is that the runtime adds to a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Combination {
    Fold,
    Finish,
}

/// One access of a task.
#[derive(Clone, Copy, Debug)]
pub(super) struct Use {
    /// The array's slot.
    pub(super) slot: u32,
    /// The slot by which observers know it: for a private buffer of a reduction, the array's.
    pub(super) known_as: u32,
    pub(super) mode: AccessMode,
    pub(super) element: &'static str,
    /// Whether the kernel sees it: it is not to a tag.
    pub(super) is_operand: bool,
}

/// The extents of each operand: their number, then they.
#[derive(Debug, Default)]
pub(super) struct Footprint(Box<[usize]>);

/// A task that has ended.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) sequence: u64,
    /// None for the host.
    pub(super) worker: Option<usize>,
    pub(super) run: Run,
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

impl Footprint {
    pub(super) fn of(record: &Record) -> Self {
        let layouts = || record.operands().map(|access| &access.body().layout);
        let mut words = Vec::with_capacity(layouts().map(|layout| 1 + layout.extents().len()).sum());
        for layout in layouts() {
            words.push(layout.extents().len());
            words.extend(layout.extents());
        }
        Self(words.into())
    }

    pub(super) fn to_lists(&self) -> Vec<Vec<usize>> {
        let mut rest = &self.0[..];
        let mut lists = Vec::new();
        while let Some((&rank, extents)) = rest.split_first() {
            let (list, behind) = extents.split_at(rank);
            lists.push(list.to_vec());
            rest = behind;
        }
        lists
    }
}

impl Use {
    /// The accesses of a record to arrays.
    pub(super) fn of(record: &Record) -> Box<[Self]> {
        let operands = record.body().accesses - record.body().tags;
        let mut uses = Vec::with_capacity(record.body().accesses);
        for (place, access) in record.accesses().enumerate() {
            let Some(array) = access.array() else { continue };
            uses.push(Self {
                slot: array.index(),
                known_as: array.id(),
                mode: access.body().mode,
                element: array.element_name(),
                is_operand: place < operands,
            });
        }
        uses.into()
    }
}

impl Combination {
    pub(super) fn of(kind: Kind) -> Option<Self> {
        match kind {
            Kind::Fold(_) => Some(Self::Fold),
            Kind::Finish(_) => Some(Self::Finish),
            _ => None,
        }
    }
}
