//! How a pass computes the gradients of maps and of linear operations: by tasks that it submits itself, without code of the
//! user's.

use std::panic::Location;

use super::gradient::{DerivedMap, Gradient, Linear};
use super::pass::{Pass, contiguous};
use super::record::{Node, Operand, Pins, Record, bit, has};
use crate::access::AccessMode;
use crate::array::Shared;
use crate::codelet::{Codelet, Parameter};
use crate::error::{Error, ErrorKind, Result};
use crate::expression::{By, Derivatives};
use crate::shape::Layout;
use crate::submission::Task;

impl Pass<'_> {
    /// The gradient by the only output of a task.
    fn gradient_by_output<'r>(&self, record: &'r Record, node: &Node) -> Option<(Shared, &'r Operand)> {
        let output = &record.operands(node)[node.gradient.outputs.trailing_zeros() as usize];
        Some((self.found(output)?, output))
    }

    pub(super) fn map(&self, record: &Record, node: &Node, map: &'static DerivedMap) -> Result<()> {
        if !self.is_wanted(record, node, map.by) {
            return Ok(());
        }
        let applied = AppliedMap {
            by: map.by,
            inputs: map.inputs,
            codelet: (!map.passes).then(map.codelet),
            arguments: record.arguments(node),
        };
        self.apply_map(record, node, &applied, || map.gradient(node.gradient.addition))
    }

    pub(super) fn expression(
        &self,
        record: &Record,
        node: &Node,
        derivatives: &'static Derivatives,
        by: usize,
    ) -> Result<()> {
        if !has(node.gradient.inputs, by) || !self.is_wanted(record, node, by) {
            return Ok(());
        }
        match derivatives.by(by) {
            By::Zero => Ok(()),
            By::Unknown => Err(not_again(node, by)),
            By::Map(map) => {
                let applied = AppliedMap {
                    by,
                    inputs: map.inputs(),
                    codelet: (!map.passes()).then(|| map.codelet()),
                    arguments: &derivatives.arguments(map, record.arguments(node)),
                };
                let addition = node.gradient.addition;
                let again = || Some(Gradient::of_derivatives(map.derivatives(), addition));
                self.apply_map(record, node, &applied, again)
            }
        }
    }

    /// Whether a gradient by this operand is computed.
    fn is_wanted(&self, record: &Record, node: &Node, operand: usize) -> bool {
        record.operands(node)[operand].id.is_some_and(|id| self.is_active(id))
    }

    /// Submits a map that computes a gradient, and adds its result.
    fn apply_map(
        &self,
        record: &Record,
        node: &Node,
        map: &AppliedMap<'_>,
        again: impl FnOnce() -> Option<&'static Gradient>,
    ) -> Result<()> {
        let operands = record.operands(node);
        let by = &operands[map.by];
        let Some(id) = by.id else { return Ok(()) };
        let Some((gradient, output)) = self.gradient_by_output(record, node) else { return Ok(()) };
        let made = if let Some(codelet) = map.codelet {
            let reads = map.inputs.iter().fold(0, |bits, input| bits | bit(*input));
            let pins = Pins::new(record, node, reads)?;
            let made = self.make(by.element, output.layout.extents())?;
            let mut task = Task::of_call(codelet, None, node.location);
            for &input in map.inputs {
                let operand = &operands[input];
                let saved = operand.saved.as_ref().expect("a gradient saves what it reads");
                task.push_shared(saved, AccessMode::R, &operand.layout);
            }
            task.push_shared(&gradient, AccessMode::R, &output.layout);
            task.push_shared(&made, AccessMode::W, &output.layout);
            task.push_arguments(map.arguments);
            match self.outer() {
                None => task.submit()?,
                Some(outer) => outer.run(task, again().ok_or_else(|| not_again(node, map.by))?)?,
            }
            drop(pins);
            made
        } else {
            gradient
        };
        let made = self.unstretched(made, &output.layout, &by.layout, node)?;
        self.add(id, made, node.gradient.addition, node.location)
    }

    /// The sum of a gradient over the axes along which an input was stretched.
    fn unstretched(&self, mut gradient: Shared, from: &Layout, to: &Layout, node: &Node) -> Result<Shared> {
        let mut extents = [0; crate::shape::MAX_RANK];
        let extents = &mut extents[..from.rank()];
        extents.copy_from_slice(from.extents());
        for (axis, &extent) in to.extents().iter().enumerate() {
            if extents[axis] == extent {
                continue;
            }
            let before = contiguous(extents);
            extents[axis] = extent;
            let after = contiguous(extents);
            let addition = self.addition(node.gradient.addition, gradient.element())?;
            let linear = Linear { codelet: (addition.sum_axis)(), gradient: (addition.sum_axis_gradient)() };
            let mut bytes = [0; size_of::<usize>()];
            crate::argument::Argument::encode(axis, &mut bytes);
            let sum = self.apply(&gradient, &before, &after, linear, &bytes, node.location)?;
            self.give_back(std::mem::replace(&mut gradient, sum));
        }
        Ok(gradient)
    }

    /// Applies a linear operation.
    pub(super) fn apply(
        &self,
        input: &Shared,
        from: &Layout,
        to: &Layout,
        Linear { codelet, gradient }: Linear,
        arguments: &[u8],
        location: &'static Location<'static>,
    ) -> Result<Shared> {
        let Parameter { element, mode, .. } = codelet.parameters[1];
        let made = self.make(element, to.extents())?;
        if matches!(mode, AccessMode::REDUX(_)) {
            made.state().reductions().forget(made.state(), location);
        }
        let mut task = Task::of_call(codelet, None, location);
        task.push_shared(input, AccessMode::R, from);
        task.push_shared(&made, mode, to);
        task.push_arguments(arguments);
        self.submit(task, gradient)?;
        Ok(made)
    }

    pub(super) fn adjoint(&self, record: &Record, node: &Node, adjoint: Linear) -> Result<()> {
        let by = &record.operands(node)[node.gradient.inputs.trailing_zeros() as usize];
        let Some(id) = by.id.filter(|id| self.is_active(*id)) else { return Ok(()) };
        let Some((gradient, output)) = self.gradient_by_output(record, node) else { return Ok(()) };
        let made = self.apply(
            &gradient,
            &contiguous(output.layout.extents()),
            &contiguous(by.layout.extents()),
            adjoint,
            record.arguments(node),
            node.location,
        )?;
        self.add(id, made, node.gradient.addition, node.location)
    }
}

/// A map that computes the gradient by one operand of a task.
struct AppliedMap<'a> {
    by: usize,
    /// The operands that it reads; the gradient by the output follows.
    inputs: &'static [usize],
    /// None if it is the gradient by the output itself.
    codelet: Option<&'static Codelet>,
    arguments: &'a [u8],
}

/// The gradient by an operand cannot be differentiated.
fn not_again(node: &Node, by: usize) -> Error {
    let (codelet, input, fact) = (node.codelet.name, node.name_of(by), "cannot be differentiated again");
    Error::at(ErrorKind::Rule { codelet, input, fact }, node.location)
}
