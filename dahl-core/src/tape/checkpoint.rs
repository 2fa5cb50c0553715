//! [`Checkpoint`]: tasks whose intermediate results are dropped, and computed again in the reverse pass.
//!
//! While the tasks run for the first time, the tape inside ([`Tape::checkpoint`]) keeps only what comes from outside. Its
//! arrays have memory of their own, so each is free when its handle is dropped and its last task has ended. In the reverse
//! pass the same tasks run again, with the same arguments, on another tape, whose gradients then flow to what came from
//! outside.

use std::collections::HashMap;

use super::composite::Composite;
use super::gradient::{Gradient, Rule};
use super::ids::Ids;
use super::pass::{Memory, Pass};
use super::record::{Checkpoint, Node, Pins, Record};
use super::repeat::Repeat;
use super::tape::Tape;
use crate::access::AccessMode;
use crate::array::Shared;
use crate::array_id::ArrayId;
use crate::codelet::{Codelet, Parameter};
use crate::element::ElementType;
use crate::error::Result;
use crate::shape::Layout;
use crate::submission::Task;

/// The gradient of a checkpoint: its result is the first array, and what came from outside follows.
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
        let mut made: HashMap<ArrayId, Shared> = HashMap::new();
        for node in self.record.nodes() {
            let pins = Pins::new(&self.record, node, u64::MAX)?;
            self.run_node(node, &mut made, tape)?;
            drop(pins);
        }
        Ok(made.get(&self.output).map_or(self.output, |output| output.state().id()))
    }

    fn run_node(&self, node: &Node, made: &mut HashMap<ArrayId, Shared>, tape: &Tape<'_>) -> Result<()> {
        let operands = self.record.operands(node);
        let mut arrays = Vec::with_capacity(operands.len());
        for operand in operands {
            let known = operand.id.and_then(|id| made.get(&id).or(operand.saved.as_ref()));
            arrays.push(match (operand.id, known) {
                (None, _) => None,
                (Some(_), Some(known)) => Some(known.share()),
                (Some(id), None) => {
                    let array = tape.detached().shared(operand.element, operand.layout.extents())?;
                    made.insert(id, array.share());
                    Some(array)
                }
            });
        }
        if let Some(repeat) = node.repeat {
            let arrays: Vec<Shared> = arrays.into_iter().flatten().collect();
            repeat(&Repeat { arrays: &arrays, operands, arguments: self.record.arguments(node) })?;
            let states = arrays.iter().zip(operands);
            return tape.add(&Composite {
                codelet: node.codelet,
                gradient: node.gradient,
                location: node.location,
                operands: states.map(|(array, of)| (array.state(), of.element, of.layout)).collect(),
                arguments: self.record.arguments(node).to_vec(),
                repeat,
            });
        }
        let mut task = Task::of_call(node.codelet, None, node.location);
        for ((operand, array), parameter) in operands.iter().zip(&arrays).zip(node.codelet.parameters) {
            let Some(array) = array else {
                task.push_scratch(operand.layout.extents());
                continue;
            };
            if matches!(parameter.mode, AccessMode::REDUX(_)) {
                array.state().reductions().forget(array.state(), node.location);
            }
            let layout =
                if parameter.mode == AccessMode::R { operand.layout } else { whole(&operand.layout) };
            task.push_shared(array, parameter.mode, &layout);
        }
        task.push_arguments(self.record.arguments(node));
        tape.run(task, node.gradient)
    }
}

fn whole(layout: &Layout) -> Layout {
    super::pass::contiguous(layout.extents())
}

impl Pass<'_> {
    /// Computes what a checkpoint dropped, and the gradients by what came from outside.
    pub(super) fn checkpoint(&self, checkpoint: &Checkpoint, record: &Record, node: &Node) -> Result<()> {
        let Some(seed) = self.found(&record.operands(node)[0]) else { return Ok(()) };
        // An outer tape knows what is computed again, since gradients depend on it.
        let again = Tape::again(self.arena().of_blocks(), self.outer(), checkpoint.tape);
        let output = checkpoint.run_again(&again)?;
        let mut inner = Pass::new(self.arena(), self.outer(), Memory::default(), self.location());
        let wanted = checkpoint.inputs().filter_map(|operand| operand.id).filter(|id| self.is_active(*id));
        let wanted: Ids = wanted.collect();
        wanted.iter().for_each(|id| inner.want(*id));
        if !again.with_record(|record| inner.run(record, output, seed))? {
            return Ok(());
        }
        // In the order of the tasks, which is the same each time.
        let mut left = wanted;
        for id in checkpoint.inputs().filter_map(|operand| operand.id) {
            if left.remove(&id)
                && let Some((gradient, addition)) = inner.take_found(id)
            {
                self.add(id, gradient, addition, node.location)?;
            }
        }
        Ok(())
    }
}
