//! What a task requires of the shapes of its arrays.

use std::fmt::Write as _;

use super::builder::Task;
use crate::access::AccessMode;
use crate::codelet::Parameter;
use crate::error::{Error, ErrorKind};
use crate::shape::Layout;

impl Task<'_> {
    /// The layouts of the accesses so far, with their parameters.
    fn layouts(&self) -> impl Iterator<Item = (&'static Parameter, &Layout)> {
        let operands = self.draft.iter().flat_map(|draft| draft.desc().operands());
        operands.map(|operand| (operand.parameter, &operand.access.layout))
    }

    fn shapes(&self) -> String {
        let mut text = String::new();
        for (parameter, layout) in
            self.layouts().filter(|(parameter, _)| parameter.mode != AccessMode::SCRATCH)
        {
            let separator = if text.is_empty() { "" } else { ", " };
            let _ = write!(text, "{separator}{}: {:?}", parameter.name, layout.extents());
        }
        text
    }

    /// Requires all arrays to have one shape.
    #[doc(hidden)]
    pub fn require_same_shapes(&mut self) {
        if self.error.is_some() {
            return;
        }
        let mut layouts = self.layouts().map(|(_, layout)| layout.extents());
        let first = layouts.next();
        if layouts.all(|extents| Some(extents) == first) {
            return;
        }
        drop(layouts);
        self.fail_shapes("");
    }

    /// Requires that the inputs broadcast to the output's shape (in place: to the target's).
    #[doc(hidden)]
    pub fn require_broadcast(&mut self) {
        if self.error.is_some() {
            return;
        }
        let target = self.over.map(|over| over.target).or_else(|| self.codelet.output());
        let target = target.map(|index| self.codelet.parameters[index].name);
        let output =
            self.layouts().find(|(parameter, _)| Some(parameter.name) == target).map(|(_, layout)| *layout);
        let Some(output) = output else { return };
        let stretches = |layout: &Layout| {
            let mut extents = layout.extents().iter().zip(output.extents());
            layout.rank() == output.rank() && extents.all(|(own, common)| own == common || *own == 1)
        };
        // The inputs together determine the shape: an extent of 1 in the output requires one in every input.
        if !self.layouts().all(|(_, layout)| stretches(layout)) || !self.is_made_by_inputs(target, &output) {
            self.fail_shapes("; an extent of 1 stretches, others must be equal");
        }
    }

    /// Whether each extent of the output is that of some input. (In place the target itself is an input.)
    fn is_made_by_inputs(&self, target: Option<&'static str>, output: &Layout) -> bool {
        self.over.is_some()
            || output.extents().iter().enumerate().all(|(axis, &extent)| {
                let inputs = self.layouts().filter(|(parameter, _)| Some(parameter.name) != target);
                inputs.map(|(_, layout)| layout.extents()[axis]).any(|own| own == extent)
            })
    }

    fn fail_shapes(&mut self, remedy: &'static str) {
        let kind = ErrorKind::Shapes { codelet: self.codelet.name, shapes: self.shapes(), remedy };
        self.fail(Error::at(kind, self.location));
    }

    /// Requires the parameter of index `parameter` (in place, the target for the output) to have the shape `expected`.
    #[doc(hidden)]
    pub fn require_shape<const N: usize>(&mut self, parameter: usize, expected: [usize; N]) {
        if self.error.is_some() {
            return;
        }
        let of_output = self.over.filter(|over| over.output == parameter);
        let parameter = &self.codelet.parameters[of_output.map_or(parameter, |over| over.target)];
        let actual = self
            .layouts()
            .find(|(other, _)| other.name == parameter.name)
            .map(|(_, layout)| layout.extents());
        if actual.is_none_or(|actual| actual == expected) {
            return;
        }
        let kind = ErrorKind::OutputShape {
            codelet: self.codelet.name,
            parameter: parameter.name,
            actual: format!("{:?}", actual.unwrap_or_default()),
            expected: format!("{expected:?}"),
            shapes: self.shapes(),
        };
        self.fail(Error::at(kind, self.location));
    }
}
