//! Checkpoints: tasks whose intermediate results are dropped, and computed again in the reverse pass.
//!
//! While the tasks run for the first time, the tape inside ([`Tape::checkpoint`]) keeps only what comes from outside. Its
//! arrays have memory of their own, so each is free when its handle is dropped and its last task has ended. In the reverse
//! pass the same tasks run again, with the same arguments, on another tape, whose gradients then flow to what came from
//! outside.

use super::composite::Composite;
use super::gradient::{Gradient, Rule};
use super::memory::Memory;
use super::pass::{Pass, contiguous};
use super::pins::Pins;
use super::record::{Checkpoint, Node, Operand, Record, Recorded};
use super::repeat::Repeat;
use super::tape::Tape;
use crate::access::AccessMode;
use crate::array::Shared;
use crate::array_id::ArrayId;
use crate::codelet::{Codelet, Parameter};
use crate::element::ElementType;
use crate::error::Result;
use crate::submission::{Task, within_gate};

/// The gradient of a checkpoint: its result is the first array, and what came from outside follows. The record has how
/// gradients by these arrays are added.
pub(super) static GRADIENT: Gradient =
    Gradient { inputs: !1, outputs: 1, reads: 0, rule: Rule::Checkpoint, addition: |_| None };

/// The names of its arrays.
pub(super) static CODELET: Codelet = Codelet::new("checkpoint", module_path!(), 1).parameters(
    const {
        &[
            Parameter::new("out", AccessMode::W, ElementType::of::<f32>()),
            Parameter::new("inputs", AccessMode::R, ElementType::of::<f32>()),
        ]
    },
);

impl Checkpoint {
    /// Runs the tasks again under `tape`; returns the new output.
    fn run_again(&self, tape: &Tape<'_>) -> Result<ArrayId> {
        let mut made: Vec<Option<Shared>> = Vec::new();
        made.resize_with(self.record.arrays().len(), || None);
        for (_, node) in self.record.nodes().iter().enumerate().filter(|(number, _)| self.record.ran(*number))
        {
            let pins = Pins::new(&self.record, node, u64::MAX)?;
            let run = || within_gate(node.gate, || self.run_node(node, &mut made, tape));
            tape.detached().placed(node.rank, run)?;
            drop(pins);
        }
        Ok(made[self.output].as_ref().expect("a task has made the output").state().id())
    }

    /// The array that takes an operand's place: what came from outside, or a new one.
    fn array(
        &self,
        operand: &Operand,
        made: &mut [Option<Shared>],
        tape: &Tape<'_>,
    ) -> Result<Option<Shared>> {
        let Some(number) = operand.number() else { return Ok(None) };
        let Recorded { element, saved, .. } = &self.record.arrays()[number];
        if let Some(known) = made[number].as_ref().or(saved.as_ref()) {
            return Ok(Some(known.share()));
        }
        let array = tape.detached().shared(**element, self.record.layout(operand).extents())?;
        made[number] = Some(array.share());
        Ok(Some(array))
    }

    fn run_node(&self, node: &Node, made: &mut [Option<Shared>], tape: &Tape<'_>) -> Result<()> {
        let (record, operands) = (&self.record, self.record.operands(node));
        let mut arrays = Vec::with_capacity(operands.len());
        for operand in operands {
            arrays.push(self.array(operand, made, tape)?);
        }
        if let Some(repeat) = node.repeat() {
            let arrays: Vec<Shared> = arrays.into_iter().flatten().collect();
            let arguments = record.arguments(node);
            let layouts: Vec<_> = operands.iter().map(|operand| *record.layout(operand)).collect();
            repeat(&Repeat { arrays: &arrays, layouts: &layouts, arguments })?;
            let states = arrays.iter().zip(operands);
            return tape.add(&Composite {
                codelet: node.codelet,
                gradient: node.gradient,
                location: node.location,
                operands: states
                    .map(|(array, of)| (array.state(), record.array(of).element, *record.layout(of)))
                    .collect(),
                arguments: arguments.to_vec(),
                repeat,
            });
        }
        let mut task = Task::of_call(node.codelet, None, node.location);
        for ((operand, array), parameter) in operands.iter().zip(&arrays).zip(node.codelet.parameters) {
            let layout = record.layout(operand);
            let Some(array) = array else {
                task.push_scratch(layout.extents());
                continue;
            };
            if matches!(parameter.mode, AccessMode::REDUX(_)) {
                array.state().reductions().forget(array.state(), node.location);
            }
            if parameter.mode == AccessMode::R {
                task.push_shared(array, parameter.mode, layout);
            } else {
                task.push_shared(array, parameter.mode, &contiguous(layout.extents()));
            }
        }
        task.push_arguments(record.arguments(node));
        tape.run(task, node.gradient)
    }
}

impl Pass<'_> {
    /// Computes what a checkpoint dropped, and the gradients by what came from outside.
    pub(super) fn checkpoint(&self, checkpoint: &Checkpoint, record: &Record, node: &Node) -> Result<()> {
        let operands = record.operands(node);
        let Some(seed) = self.with_found(&operands[0], Shared::share) else { return Ok(()) };
        // An outer tape knows what is computed again, since gradients depend on it.
        let again = Tape::again(self.arena().of_blocks(), self.outer(), checkpoint.tape);
        let output = checkpoint.run_again(&again)?;
        let mut inner = Pass::new(self.arena(), self.outer(), Memory::default(), self.location());
        for (input, (_, array)) in operands[1..].iter().zip(checkpoint.inputs()) {
            if let Some(saved) = array.saved.as_ref().filter(|_| self.is_active(input)) {
                inner.want(saved.share());
            }
        }
        if !again.with_record(|record| inner.run(record, output, seed))? {
            return Ok(());
        }
        // In the order of the tasks, which is the same each time.
        for input in operands[1..].iter().filter(|input| self.is_active(input)) {
            if let Some(gradient) = inner.take_result(record.array(input).id) {
                self.add(record, input, gradient, node.location)?;
            }
        }
        Ok(())
    }
}
