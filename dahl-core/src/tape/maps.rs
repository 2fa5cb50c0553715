//! How a pass computes the gradients of maps and of linear operations: by tasks that it submits itself, without code of the
//! user's.

use std::panic::Location;

use super::gradient::{DerivedMap, Gradient, Linear, bit, has};
use super::pass::{Pass, contiguous};
use super::pins::Pins;
use super::record::{Node, Operand, Record};
use crate::access::AccessMode;
use crate::array::Shared;
use crate::codelet::{Codelet, Parameter};
use crate::error::{Error, ErrorKind, Result};
use crate::expression::{By, Derivatives};
use crate::shape::Layout;
use crate::submission::Task;

impl Pass<'_> {
    /// The only output of a task.
    fn output<'r>(record: &'r Record, node: &Node) -> &'r Operand {
        &record.operands(node)[node.gradient.outputs.trailing_zeros() as usize]
    }

    pub(super) fn map(&self, record: &Record, node: &Node, map: &'static DerivedMap) -> Result<()> {
        if !self.is_active(&record.operands(node)[map.by]) {
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
        if !has(node.gradient.inputs, by) || !self.is_active(&record.operands(node)[by]) {
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

    /// Submits a map that computes a gradient, and adds its result.
    fn apply_map(
        &self,
        record: &Record,
        node: &Node,
        map: &AppliedMap<'_>,
        again: impl FnOnce() -> Option<&'static Gradient>,
    ) -> Result<()> {
        let operands = record.operands(node);
        let (by, output) = (&operands[map.by], Self::output(record, node));
        let made = self.with_found(output, |gradient| {
            let Some(codelet) = map.codelet else { return Ok(gradient.share()) };
            let layout = record.layout(output);
            let reads = map.inputs.iter().fold(0, |bits, input| bits | bit(*input));
            let pins = Pins::new(record, node, reads)?;
            let made = self.make(record.array(by).element, layout.extents())?;
            let mut task = Task::of_call(codelet, None, node.location);
            for &input in map.inputs {
                let operand = &operands[input];
                let saved = record.saved(operand).expect("a gradient saves what it reads");
                task.push_shared(saved, AccessMode::R, record.layout(operand));
            }
            task.push_shared(gradient, AccessMode::R, layout);
            task.push_shared(&made, AccessMode::W, layout);
            task.push_arguments(map.arguments);
            match self.outer() {
                None => task.submit()?,
                Some(outer) => outer.run(task, again().ok_or_else(|| not_again(node, map.by))?)?,
            }
            drop(pins);
            Ok(made)
        });
        let Some(made) = made else { return Ok(()) };
        let made = self.unstretched(record, (output, by), made?, node.location)?;
        self.add(record, by, made, node.location)
    }

    /// Applies a linear operation.
    pub(super) fn apply(
        &self,
        input: &Shared,
        (from, to): (&Layout, &Layout),
        Linear { codelet, gradient }: Linear,
        arguments: &[u8],
        location: &'static Location<'static>,
    ) -> Result<Shared> {
        let Parameter { element, mode, .. } = &codelet.parameters[1];
        let made = self.make(element, to.extents())?;
        if matches!(mode, AccessMode::REDUX(_)) {
            made.state().reductions().forget(made.state(), location);
        }
        let mut task = Task::of_call(codelet, None, location);
        task.push_shared(input, AccessMode::R, from);
        task.push_shared(&made, *mode, to);
        task.push_arguments(arguments);
        self.submit(task, gradient)?;
        Ok(made)
    }

    pub(super) fn adjoint(&self, record: &Record, node: &Node, adjoint: Linear) -> Result<()> {
        let by = &record.operands(node)[node.gradient.inputs.trailing_zeros() as usize];
        if !self.is_active(by) {
            return Ok(());
        }
        let output = Self::output(record, node);
        let layouts = [output, by].map(|operand| contiguous(record.layout(operand).extents()));
        let made = self.with_found(output, |gradient| {
            self.apply(gradient, (&layouts[0], &layouts[1]), adjoint, record.arguments(node), node.location)
        });
        made.map_or(Ok(()), |made| self.add(record, by, made?, node.location))
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
