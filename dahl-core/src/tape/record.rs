//! [`Record`]: the tasks that a tape remembers.
//!
//! Operands and arguments of all tasks are in one vector each, which keep their memory when a tape is reset.

use std::ops::Range;
use std::panic::Location;
use std::sync::{Mutex, PoisonError};

use super::composite::Composite;
use super::gradient::{AdditionOf, Gradient};
use super::ids::Ids;
use super::repeat::Repeat;
use crate::access::AccessMode;
use crate::array::Shared;
use crate::array_id::ArrayId;
use crate::codelet::Codelet;
use crate::element::ElementType;
use crate::error::{Error, ErrorKind, Result};
use crate::graph::ArrayState;
use crate::shape::Layout;
use crate::submission::Task;

/// The tasks that a tape remembers, in the order of their submission.
#[derive(Debug, Default)]
pub(super) struct Record {
    nodes: Vec<Node>,
    operands: Vec<Operand>,
    arguments: Vec<u8>,
    checkpoints: Vec<Checkpoint>,
}

/// A task.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) codelet: &'static Codelet,
    pub(super) gradient: &'static Gradient,
    /// The line that submitted it.
    pub(super) location: &'static Location<'static>,
    operands: Range<usize>,
    arguments: Range<usize>,
    /// For an operation of several tasks: how they are run again.
    pub(super) repeat: Option<fn(&Repeat<'_>) -> Result<()>>,
    /// For a checkpoint: its number.
    checkpoint: Option<usize>,
}

/// An array of a task, in the place of its parameter.
#[derive(Debug)]
pub(super) struct Operand {
    /// None for a temporary buffer.
    pub(super) id: Option<ArrayId>,
    pub(super) element: ElementType,
    /// Its extents.
    pub(super) layout: Layout,
    /// Whether the task made it.
    pub(super) is_made: bool,
    /// The writes of the array before the value that the task read, or for an output, wrote.
    pub(super) writes: u64,
    /// Another owner, if the gradient reads the value.
    pub(super) saved: Option<Shared>,
}

/// Tasks to be run again.
#[derive(Debug)]
pub(super) struct Checkpoint {
    pub(super) record: Record,
    pub(super) output: ArrayId,
    /// The number of the tape whose checkpoint it is.
    pub(super) tape: u64,
}

/// The arrays that were made inside of a checkpoint so far.
pub(super) type Inside = Mutex<Ids>;

impl Checkpoint {
    pub(super) fn new(record: Record, output: ArrayId, tape: u64) -> Self {
        Self { record, output, tape }
    }

    /// What came from outside, with its layout: once for each task that reads it.
    pub(super) fn inputs(&self) -> impl Iterator<Item = &Operand> {
        let operands = self.record.nodes().iter().flat_map(|node| self.record.operands(node));
        operands.filter(|operand| operand.saved.is_some())
    }
}

/// How what is remembered runs again, for a checkpoint.
pub(super) enum Again {
    /// It is a task.
    Task,
    /// It consists of several tasks.
    Tasks(fn(&Repeat<'_>) -> Result<()>),
    /// It is a checkpoint.
    Checkpoint(Checkpoint),
}

/// The operands and arguments of a task that is about to be submitted.
#[derive(Debug, Default)]
pub(super) struct Draft {
    operands: Vec<Operand>,
    arguments: Vec<u8>,
}

impl Draft {
    /// Takes the operands of a task, and an owner of each that its gradient reads.
    ///
    /// # Errors
    /// If one of these is a part of another array.
    pub(super) fn take(
        &mut self,
        task: &Task<'_>,
        gradient: &Gradient,
        tape: &dyn Family,
        inside: Option<&Inside>,
    ) -> Result<()> {
        self.operands.clear();
        self.arguments.clear();
        self.arguments.extend_from_slice(task.encoded_arguments());
        for (index, (state, access)) in task.operands().enumerate() {
            let parameter = &task.codelet().parameters[index];
            let is_made = parameter.mode != AccessMode::R;
            let of = (task.codelet(), parameter.element, &access.layout, is_made);
            let keeps = match inside {
                Some(inside) => parameter.mode == AccessMode::R && comes_from_outside(inside, state),
                None => has(gradient.reads, index),
            };
            self.push(state, of, (gradient, index), (tape, keeps), task.location())?;
        }
        Ok(())
    }

    /// The same for an operation of several tasks.
    ///
    /// # Errors
    /// As for [`take`](Self::take).
    pub(super) fn take_call(
        &mut self,
        call: &Composite<'_>,
        tape: &dyn Family,
        inside: Option<&Inside>,
    ) -> Result<()> {
        self.operands.clear();
        self.arguments.clear();
        self.arguments.extend_from_slice(&call.arguments);
        for (index, (state, element, layout)) in call.operands.iter().enumerate() {
            let of = (call.codelet, *element, layout, has(call.gradient.outputs, index));
            let keeps = match inside {
                Some(inside) => has(call.gradient.inputs, index) && comes_from_outside(inside, Some(state)),
                None => has(call.gradient.reads, index),
            };
            self.push(Some(state), of, (call.gradient, index), (tape, keeps), call.location)?;
        }
        Ok(())
    }

    /// The operands of a checkpoint: its result, and what came from outside.
    pub(super) fn take_checkpoint(
        &mut self,
        output: ArrayId,
        element: ElementType,
        shape: &[usize],
        checkpoint: &Checkpoint,
    ) {
        self.operands.clear();
        self.arguments.clear();
        let mut layout = Layout::EMPTY;
        layout.set_contiguous(shape);
        self.operands.push(Operand {
            id: Some(output),
            element,
            layout,
            is_made: true,
            writes: 0,
            saved: None,
        });
        self.operands.extend(checkpoint.inputs().map(|input| Operand { saved: None, ..*input }));
    }

    /// What the task makes, with or without a gradient.
    pub(super) fn made(&self) -> impl Iterator<Item = ArrayId> {
        self.operands.iter().filter(|operand| operand.is_made).filter_map(|operand| operand.id)
    }

    fn push(
        &mut self,
        state: Option<&ArrayState>,
        (codelet, element, layout, is_made): (&'static Codelet, ElementType, &Layout, bool),
        (gradient, index): (&Gradient, usize),
        (tape, keeps): (&dyn Family, bool),
        location: &'static Location<'static>,
    ) -> Result<()> {
        let Some(state) = state else {
            let layout = *layout;
            self.operands.push(Operand { id: None, element, layout, is_made, writes: 0, saved: None });
            return Ok(());
        };
        let flows = has(gradient.inputs, index);
        let parameter = || name_of(codelet, index);
        if (flows || keeps) && state.whole().is_some() {
            // A gradient by a part would not reach the whole.
            return Err(Error::at(ErrorKind::PartOnTape { parameter: parameter() }, location));
        }
        if flows && state.saves().tape().is_some_and(|made_under| !tape.knows(made_under)) {
            let kind = ErrorKind::ForeignTape { codelet: codelet.name, parameter: parameter() };
            return Err(Error::at(kind, location));
        }
        if is_made {
            state.saves().set_of_tape(tape.number());
        }
        // That of an output is read when the task has been submitted.
        let writes = if flows || keeps && !is_made { state.saves().begin() } else { 0 };
        let saved = if keeps { Shared::of(state) } else { None };
        let (id, layout) = (Some(state.id()), *layout);
        self.operands.push(Operand { id, element, layout, is_made, writes, saved });
        Ok(())
    }
}

/// A tape, as the arrays that are made under it know it.
pub(super) trait Family {
    /// Its number.
    fn number(&self) -> u64;

    /// Whether it is the tape of this number, or that remembers for it.
    fn knows(&self, number: u64) -> bool;
}

impl Record {
    /// Adds a task that was submitted, with what was taken from it.
    pub(super) fn add(
        &mut self,
        codelet: &'static Codelet,
        gradient: &'static Gradient,
        location: &'static Location<'static>,
        again: Again,
        draft: &mut Draft,
    ) {
        let operands = self.operands.len()..self.operands.len() + draft.operands.len();
        let arguments = self.arguments.len()..self.arguments.len() + draft.arguments.len();
        for operand in draft.operands.iter_mut().filter(|operand| operand.is_made) {
            if let Some(array) = &operand.saved {
                operand.writes = array.state().saves().begin();
            }
        }
        self.operands.append(&mut draft.operands);
        self.arguments.append(&mut draft.arguments);
        let (repeat, checkpoint) = match again {
            Again::Task => (None, None),
            Again::Tasks(repeat) => (Some(repeat), None),
            Again::Checkpoint(checkpoint) => {
                self.checkpoints.push(checkpoint);
                (None, Some(self.checkpoints.len() - 1))
            }
        };
        self.nodes.push(Node { codelet, gradient, location, operands, arguments, repeat, checkpoint });
    }

    /// The checkpoint that a task stands for.
    pub(super) fn checkpoint(&self, node: &Node) -> Option<&Checkpoint> {
        Some(&self.checkpoints[node.checkpoint?])
    }

    /// Forgets all tasks and releases what is saved. Keeps its memory.
    pub(super) fn clear(&mut self) {
        self.nodes.clear();
        self.operands.clear();
        self.arguments.clear();
        self.checkpoints.clear();
    }

    /// Adds the tasks of another record, in order.
    pub(super) fn append(&mut self, mut other: Self) {
        if self.nodes.is_empty() {
            *self = other;
            return;
        }
        let shift = |range: &Range<usize>, by: usize| range.start + by..range.end + by;
        let (operands, arguments) = (self.operands.len(), self.arguments.len());
        let checkpoints = self.checkpoints.len();
        self.nodes.extend(other.nodes.iter().map(|node| Node {
            operands: shift(&node.operands, operands),
            arguments: shift(&node.arguments, arguments),
            checkpoint: node.checkpoint.map(|number| number + checkpoints),
            ..node.clone()
        }));
        self.operands.append(&mut other.operands);
        self.arguments.append(&mut other.arguments);
        self.checkpoints.append(&mut other.checkpoints);
    }

    /// How gradients by the output of a task are added.
    pub(super) fn addition(&self, node: &Node, output: ArrayId) -> AdditionOf {
        let Some(checkpoint) = self.checkpoint(node) else { return node.gradient.addition };
        let record = &checkpoint.record;
        let made = |node: &&Node| record.outputs(node).any(|made| made == checkpoint.output);
        let made = record.nodes().iter().rev().find(made).filter(|_| output == checkpoint.output);
        made.map_or(node.gradient.addition, |made| record.addition(made, output))
    }

    pub(super) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    pub(super) fn operands(&self, node: &Node) -> &[Operand] {
        &self.operands[node.operands.clone()]
    }

    pub(super) fn arguments(&self, node: &Node) -> &[u8] {
        &self.arguments[node.arguments.clone()]
    }

    /// The operands by which there is a gradient.
    pub(super) fn inputs(&self, node: &Node) -> impl Iterator<Item = ArrayId> {
        self.chosen(node, node.gradient.inputs)
    }

    /// The operands whose gradient the rule takes.
    pub(super) fn outputs(&self, node: &Node) -> impl Iterator<Item = ArrayId> {
        self.chosen(node, node.gradient.outputs)
    }

    fn chosen(&self, node: &Node, bits: u64) -> impl Iterator<Item = ArrayId> {
        let operands = self.operands(node).iter().enumerate();
        operands.filter(move |(index, _)| has(bits, *index)).filter_map(|(_, operand)| operand.id)
    }
}

/// Whether an array was not made inside of a checkpoint.
fn comes_from_outside(inside: &Inside, state: Option<&ArrayState>) -> bool {
    let inside = inside.lock().unwrap_or_else(PoisonError::into_inner);
    state.is_some_and(|state| !inside.contains(&state.id()))
}

/// The bit of an operand. The last bit is that of all that follow.
pub(super) fn bit(index: usize) -> u64 {
    1 << index.min(63)
}

/// Whether `bits` name an operand.
pub(super) fn has(bits: u64, index: usize) -> bool {
    bits & bit(index) != 0
}

/// The name of an array of an operation, for errors.
fn name_of(codelet: &Codelet, index: usize) -> &'static str {
    let parameter = codelet.parameters.get(index).or(codelet.parameters.last());
    parameter.map_or("an array", |parameter| parameter.name)
}

impl Node {
    /// The name of an operand, for errors.
    pub(super) fn name_of(&self, index: usize) -> &'static str {
        name_of(self.codelet, index)
    }
}

/// Keeps values that a node saved from being changed until it is dropped.
pub(super) struct Pins<'a> {
    operands: &'a [Operand],
    /// Which of them are pinned, of the first `end`.
    bits: u64,
    end: usize,
}

impl<'a> Pins<'a> {
    /// Pins those of the values that `node` saved that are named by `bits`.
    ///
    /// # Errors
    /// If one of the values was overwritten.
    pub(super) fn new(record: &'a Record, node: &Node, bits: u64) -> Result<Self> {
        let mut pins = Self { operands: record.operands(node), bits, end: 0 };
        for (index, operand) in pins.operands.iter().enumerate() {
            if let Some(saved) = operand.saved.as_ref().filter(|_| has(bits, index))
                && let Err(written_at) = saved.state().saves().pin(operand.writes)
            {
                let (codelet, parameter) = (node.codelet.name, node.name_of(index));
                let kind = ErrorKind::Overwritten { codelet, parameter, written_at };
                return Err(Error::at(kind, node.location));
            }
            pins.end = index + 1;
        }
        Ok(pins)
    }
}

impl Drop for Pins<'_> {
    fn drop(&mut self) {
        for (index, operand) in self.operands[..self.end].iter().enumerate() {
            if let Some(saved) = operand.saved.as_ref().filter(|_| has(self.bits, index)) {
                saved.state().saves().unpin();
            }
        }
    }
}
