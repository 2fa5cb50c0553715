//! [`Inspection`]: what is kept from before a kernel until after it, and compared.
#![allow(unsafe_code, reason = "looks at a task's arrays before and after its kernel")]

use super::inspected::Inspected;
use super::note::CheckNotes;
use super::read_only::Originals;
use super::{not_finite, unwritten};
use crate::codelet::Operand;

/// The state that is kept from before a kernel until after it.
#[derive(Default)]
pub(crate) struct Inspection {
    originals: Originals,
    not_finite_before: bool,
}

impl Inspection {
    /// Prepares the operands: outputs get a pattern, and a kernel in C gets copies of its inputs.
    ///
    /// # Safety
    /// Invariant V of [`Operand`] holds for each, and no views of them exist.
    pub(crate) unsafe fn begin(&mut self, inspected: Inspected, operands: &mut [Operand]) {
        // SAFETY: guaranteed by the caller.
        self.not_finite_before = unsafe { not_finite::is_in_changed(inspected, operands) };
        // SAFETY: guaranteed by the caller.
        unsafe { unwritten::fill(inspected, operands) };
        // SAFETY: guaranteed by the caller; the copies stay until `end`.
        unsafe { self.originals.replace(inspected, operands) };
    }

    /// Checks what the kernel did. `again` runs it once more, on other operands, and returns whether it succeeded.
    ///
    /// # Errors
    /// A violation of its declaration.
    ///
    /// # Safety
    /// As for [`begin`](Self::begin), with the same operands.
    pub(crate) unsafe fn end(
        &mut self,
        inspected: Inspected,
        operands: &[Operand],
        notes: &CheckNotes,
        again: impl FnMut(&[Operand]) -> bool,
    ) -> Result<(), String> {
        self.originals.compare(inspected, operands)?;
        // SAFETY: guaranteed by the caller.
        unsafe { unwritten::look(inspected, operands, again) }?;
        // SAFETY: guaranteed by the caller.
        unsafe { not_finite::look(inspected, operands, self.not_finite_before, notes) };
        self.originals.clear();
        Ok(())
    }
}
