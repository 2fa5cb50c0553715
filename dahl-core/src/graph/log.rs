//! [`Log`]: what was submitted to an engine that only records it (`program/README.md`).

use std::cell::Cell;
use std::panic::Location;
use std::sync::Arc;

use super::region::LoggedFlow;
use crate::array_id::ArrayId;
use crate::description::TaskDesc;
use crate::element::ElementType;
use crate::shape::Layout;
use crate::sync::{Mutex, MutexGuard, thread_local};

/// What was submitted, in order, and the arrays that were made.
#[derive(Debug, Default)]
pub(crate) struct Log {
    entries: Mutex<Entries>,
}

/// The entries of a log.
#[derive(Debug, Default)]
pub(crate) struct Entries {
    pub(crate) steps: Vec<LoggedStep>,
    /// While a region is open: the steps before it, of each region around it.
    pub(super) outer: Vec<Vec<LoggedStep>>,
    pub(crate) arrays: Vec<LoggedArray>,
    /// What cannot be replayed, with the line that submitted it.
    pub(crate) problem: Option<(&'static str, &'static Location<'static>)>,
}

/// An array of a recording.
#[derive(Clone, Debug)]
pub struct LoggedArray {
    /// Its id in the recording.
    pub id: ArrayId,
    /// The type of its elements.
    pub element: ElementType,
    /// The bytes of its elements.
    pub bytes: usize,
    /// Its value before its first task.
    pub initial: Initial,
    /// For a part: its layout in the buffer of its whole array.
    pub part: Option<PartOf>,
}

/// The value of an array before its first task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Initial {
    /// Zeros, or no value: a task that reads it finds zeros.
    Zeros,
    /// These bytes.
    Bytes(Arc<[u8]>),
}

/// The place of a part.
#[derive(Clone, Copy, Debug)]
pub struct PartOf {
    pub(crate) layout: Layout,
    /// The partition that it is of: the number of its first part. 0 for a part that is an argument.
    pub(crate) group: u64,
    /// Its number there. Two parts of one partition have no element in common.
    pub(crate) index: usize,
    /// Whether the parts are only read.
    pub(crate) shared: bool,
}

impl PartOf {
    /// The first element and the number of elements up to the last one, in the whole array's buffer.
    pub fn span(&self) -> (usize, usize) {
        span(&self.layout)
    }

    /// Its extents in the whole array.
    pub fn extents(&self) -> &[usize] {
        self.layout.extents()
    }

    /// Its strides there, in elements.
    pub fn strides(&self) -> Vec<isize> {
        self.layout.strides().to_vec()
    }

    /// Its first element there.
    pub fn offset(&self) -> usize {
        self.layout.offset
    }

    /// The partition that it is of, by a number that no other partition of the recording has, and its number there.
    pub fn number(&self) -> (u64, usize) {
        (self.group, self.index)
    }

    /// Whether the parts are only read.
    pub fn is_shared(&self) -> bool {
        self.shared
    }

    /// The same place, for a body that uses the part and does not make it.
    pub fn as_argument(self) -> Self {
        Self::argument(self.layout)
    }

    /// That of an argument.
    pub(crate) fn argument(layout: Layout) -> Self {
        Self { layout, group: 0, index: 0, shared: false }
    }
}

/// The first element of a layout, and the number of elements up to the last one.
pub(crate) fn span(layout: &Layout) -> (usize, usize) {
    let axes = layout.extents().iter().zip(layout.strides());
    let last: isize = axes.map(|(&len, stride)| (len as isize - 1) * stride).sum();
    (layout.offset, if layout.len() == 0 { 0 } else { last as usize + 1 })
}

/// Something that was submitted.
#[derive(Clone, Debug)]
pub enum LoggedStep {
    /// A task, with the array whose chain orders each access: none for temporary memory.
    Task {
        /// The description. Its arrays are those that users know: contributions to a reduction name its array.
        desc: Box<TaskDesc>,
        /// The array of each access: for a contribution, the private buffer.
        arrays: Vec<Option<ArrayId>>,
        /// Its plain arguments are bytes of this slot of the call's numbers, after so many others.
        slot: Option<(usize, usize)>,
    },
    /// The parts of an array get its value.
    Split(LoggedPartition),
    /// An array gets the value of its parts.
    Join(LoggedPartition),
    /// The value of an array is discarded: it is zero.
    Forget(ArrayId, &'static Location<'static>),
    /// A branch or a loop, with what its bodies submit.
    Flow(LoggedFlow),
}

/// A partition.
#[derive(Clone, Debug)]
pub struct LoggedPartition {
    /// The whole array.
    pub whole: ArrayId,
    /// Its parts.
    pub parts: Vec<ArrayId>,
    /// Whether the parts are only read.
    pub shared: bool,
    /// The line that submitted it.
    pub location: &'static Location<'static>,
}

thread_local! {
    static CURSOR: Cell<Option<SlotCursor>> = const { Cell::new(None) };
}

/// Where the tasks that this thread records take their plain arguments from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlotCursor {
    slot: usize,
    /// The bytes that tasks have taken.
    taken: usize,
}

impl SlotCursor {
    /// The beginning of a slot.
    pub(crate) fn at(slot: usize) -> Self {
        Self { slot, taken: 0 }
    }

    /// Calls `submit`, whose tasks take their arguments from here.
    pub(crate) fn during<R>(self, submit: impl FnOnce() -> R) -> R {
        struct Restore(Option<SlotCursor>);
        impl Drop for Restore {
            fn drop(&mut self) {
                CURSOR.with(|cursor| cursor.set(self.0));
            }
        }
        let _restore = Restore(CURSOR.with(|cursor| cursor.replace(Some(self))));
        submit()
    }

    /// Takes so many bytes: the slot, and the bytes before them. A task without arguments takes none.
    fn take(bytes: usize) -> Option<(usize, usize)> {
        let Self { slot, taken } = CURSOR.with(Cell::get).filter(|_| bytes > 0)?;
        CURSOR.with(|cursor| cursor.set(Some(Self { slot, taken: taken + bytes })));
        Some((slot, taken))
    }
}

impl Log {
    pub(super) fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(|poison| poison.into_inner())
    }

    /// Takes all entries.
    pub(crate) fn take(&self) -> Entries {
        std::mem::take(&mut *self.entries())
    }

    /// An array was made.
    pub(super) fn made(&self, id: ArrayId, element: ElementType, bytes: usize) {
        self.entries().arrays.push(LoggedArray { id, element, bytes, initial: Initial::Zeros, part: None });
    }

    /// An array is a part of another one.
    pub(super) fn placed(&self, id: ArrayId, layout: Layout) {
        self.entries().change(id, |array| array.part = Some(PartOf::argument(layout)));
    }

    /// The host has filled a new array.
    pub(crate) fn filled(&self, id: ArrayId, elements: &[u8]) {
        self.entries().change(id, |array| array.initial = Initial::Bytes(elements.into()));
    }

    /// A task was submitted, on these arrays.
    pub(crate) fn task(&self, desc: &TaskDesc, arrays: Vec<Option<ArrayId>>) {
        let slot = SlotCursor::take(desc.arguments().len());
        self.entries().steps.push(LoggedStep::Task { desc: Box::new(desc.clone()), arrays, slot });
    }

    /// A split was submitted, or else a join.
    pub(crate) fn partition(&self, partition: LoggedPartition, is_split: bool) {
        let mut entries = self.entries();
        if !is_split {
            return entries.steps.push(LoggedStep::Join(partition));
        }
        for (index, &part) in partition.parts.iter().enumerate() {
            let (group, shared) = (partition.parts[0].number(), partition.shared);
            entries.change(part, |array| {
                let layout = array.part.expect("a part has a place").layout;
                array.part = Some(PartOf { layout, group, index, shared });
            });
        }
        entries.steps.push(LoggedStep::Split(partition));
    }

    /// The value of an array was discarded.
    pub(crate) fn forget(&self, array: ArrayId, location: &'static Location<'static>) {
        self.entries().steps.push(LoggedStep::Forget(array, location));
    }

    /// Something was submitted that cannot be replayed.
    pub(crate) fn refuse(&self, what: &'static str, location: &'static Location<'static>) {
        self.entries().problem.get_or_insert((what, location));
    }
}

impl Entries {
    fn change(&mut self, id: ArrayId, change: impl FnOnce(&mut LoggedArray)) {
        let array = self.arrays.iter_mut().rev().find(|array| array.id == id);
        change(array.expect("an array is logged when it is made"));
    }
}
