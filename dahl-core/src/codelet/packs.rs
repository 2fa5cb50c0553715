//! [`Packs`]: contiguous copies of strided operands.
#![allow(unsafe_code, reason = "copies the elements of operands whose invariant the caller keeps")]

use std::panic::Location;
use std::sync::Arc;

use super::operand::{Direction, Operand, copy_rows};
use crate::memory::{Buffer, Holder, MemoryNode};

/// Contiguous copies of strided operands, for kernels that take slices. Recycled from task to task.
pub(crate) struct Packs {
    /// None if no operand is strided.
    memory: Option<Arc<MemoryNode>>,
    /// The line that submitted the running task.
    location: &'static Location<'static>,
    buffers: Vec<Buffer>,
    used: usize,
    /// Copies to be written back: operand and buffer.
    changed: Vec<(usize, usize)>,
}

impl Packs {
    pub(crate) fn new(memory: Option<Arc<MemoryNode>>) -> Self {
        Self { memory, location: Location::caller(), buffers: Vec::new(), used: 0, changed: Vec::new() }
    }

    /// Those of a job of the running task.
    pub(super) fn of_job(&self) -> Self {
        Self { memory: self.memory.clone(), location: self.location, ..Self::new(None) }
    }

    /// Starts the views of another task, submitted at `location`.
    pub(crate) fn begin(&mut self, location: &'static Location<'static>) {
        self.location = location;
        self.used = 0;
        self.changed.clear();
    }

    /// Starts other views of the same task.
    pub(crate) fn restart(&mut self) {
        self.begin(self.location);
    }

    /// Where the running task was submitted.
    pub(crate) fn location(&self) -> &'static Location<'static> {
        self.location
    }

    /// The copy of an operand. If its memory cannot be had, the kernel is stopped: it unwinds with the [`Shortage`].
    ///
    /// [`Shortage`]: crate::error::Shortage
    pub(super) fn pack(&mut self, index: usize, operand: &Operand, changes: bool) -> *mut u8 {
        let bytes = operand.layout.len() * operand.element.size_bytes;
        let buffer = self.used;
        self.used += 1;
        if self.buffers.len() == buffer {
            self.buffers.push(Buffer::default());
        }
        let holder = Holder::new("packed copies", self.location);
        let memory = self.memory.as_ref().expect("strided operands have memory for their copies");
        let start = match self.buffers[buffer].at_least(memory, bytes, holder) {
            Ok(start) => start,
            Err(shortage) => std::panic::resume_unwind(Box::new(shortage)),
        };
        if changes {
            self.changed.push((index, buffer));
        }
        if operand.reads {
            // SAFETY: V for the operand; the buffer has `bytes` bytes and is not used elsewhere.
            unsafe { copy_rows(operand, start, Direction::Pack) };
        }
        start
    }

    /// Writes changed copies back after the kernel has ended.
    ///
    /// # Safety
    /// `operands` are those of the views that made the copies, V still holds for them, and no view is left.
    pub(crate) unsafe fn unpack(&mut self, operands: &[Operand]) {
        for (index, buffer) in self.changed.drain(..) {
            let start = self.buffers[buffer].pointer();
            // SAFETY: V: the task may write the operand, and the buffer was copied from its layout.
            unsafe { copy_rows(&operands[index], start, Direction::Unpack) };
        }
    }
}
