//! [`Inspected`]: the kernel that is inspected.

use std::panic::Location;

use crate::access::AccessMode;
use crate::codelet::{Codelet, Kernel, Parameter};

/// A kernel that is about to run, or has run.
#[derive(Clone, Copy)]
pub(crate) struct Inspected {
    pub(crate) codelet: &'static Codelet,
    pub(crate) kernel: &'static Kernel,
    pub(crate) location: &'static Location<'static>,
}

impl Inspected {
    /// The parameters of the operands: in place, those of the declaration without the output.
    pub(super) fn parameters(self, operands: usize) -> impl Iterator<Item = &'static Parameter> {
        let all = self.codelet.parameters;
        let skipped = if operands < all.len() { self.codelet.output() } else { None };
        all.iter()
            .enumerate()
            .filter(move |&(index, _)| Some(index) != skipped)
            .map(|(_, parameter)| parameter)
    }
}

/// Whether the kernel must write every element of the parameter, whatever its old content.
pub(super) fn is_overwritten(parameter: &Parameter) -> bool {
    parameter.mode == AccessMode::W
}
