//! Checked mode: compares what a kernel did with its declaration.
//!
//! * [`unwritten`]: every element of a `W` output was written.
//! * [`read_only`]: a kernel in C did not change its inputs. (One in Rust cannot.)
//! * [`not_finite`]: a NaN or an infinity came out where none went in. That is a [note](CheckNote), not a failure.
//!
//! A worker of a checked runtime [begins](Inspection::begin) the inspection before the kernel and
//! [ends](Inspection::end) it after. What the first two find fails the task, as a panic does. `scheduler::Shuffled`
//! permutes the order of independent tasks.
#![allow(unsafe_code, reason = "looks at a task's arrays before and after its kernel")]

mod elements;
mod not_finite;
mod note;
mod pattern;
mod read_only;
mod substitute;
mod unwritten;

use std::panic::Location;

pub use note::CheckNote;
pub(crate) use note::CheckNotes;

use crate::access::AccessMode;
use crate::codelet::{Codelet, Kernel, Operand, Parameter};
use read_only::Originals;

/// A kernel that is about to run, or has run.
#[derive(Clone, Copy)]
pub(crate) struct Inspected {
    pub(crate) codelet: &'static Codelet,
    pub(crate) kernel: &'static Kernel,
    pub(crate) location: &'static Location<'static>,
}

/// What is kept from before a kernel until after it.
#[derive(Default)]
pub(crate) struct Inspection {
    originals: Originals,
    not_finite_before: bool,
}

impl Inspected {
    /// The parameters of the operands: in place, those of the declaration without the output.
    fn parameters(self, operands: usize) -> impl Iterator<Item = &'static Parameter> {
        let all = self.codelet.parameters;
        let skipped = if operands < all.len() { self.codelet.output() } else { None };
        all.iter()
            .enumerate()
            .filter(move |&(index, _)| Some(index) != skipped)
            .map(|(_, parameter)| parameter)
    }
}

impl Inspection {
    /// Prepares the operands: outputs get a pattern, and a kernel in C gets copies of its inputs.
    ///
    /// # Safety
    /// Invariant V of [`Operand`] holds for each, and no views of them exist.
    pub(crate) unsafe fn begin(&mut self, inspected: Inspected, operands: &mut [Operand]) {
        // SAFETY: the caller's.
        self.not_finite_before = unsafe { not_finite::is_in_changed(inspected, operands) };
        // SAFETY: the caller's.
        unsafe { unwritten::fill(inspected, operands) };
        // SAFETY: the caller's; the copies stay until `end`.
        unsafe { self.originals.replace(inspected, operands) };
    }

    /// Looks at what the kernel did. `again` runs it once more, on other operands, and says whether it ended well.
    ///
    /// # Errors
    /// What it did wrong.
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
        // SAFETY: the caller's.
        unsafe { unwritten::look(inspected, operands, again) }?;
        // SAFETY: the caller's.
        unsafe { not_finite::look(inspected, operands, self.not_finite_before, notes) };
        self.originals.clear();
        Ok(())
    }
}

/// Whether the kernel writes every element of the parameter, whatever it held.
fn is_overwritten(parameter: &Parameter) -> bool {
    parameter.mode == AccessMode::W
}
