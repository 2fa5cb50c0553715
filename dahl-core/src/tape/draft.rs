//! [`Draft`]: a task on its way into a record.
//!
//! A task is recorded before it is submitted, under one lock, so nothing is copied in between. If the submission fails, the
//! record [forgets](Record::fail) it: nobody gets its outputs.

use super::composite::Composite;
use super::gradient::{Gradient, has};
use super::pass::{Family, contiguous};
use super::record::{Again, Checkpoint, Node, Operand, Record, Recorded, name_of};
use crate::access::AccessMode;
use crate::array::Shared;
use crate::element::ElementType;
use crate::error::{Error, ErrorKind, Result};
use crate::graph::ArrayState;
use crate::shape::Layout;
use crate::submission::{Task, current_gate};

/// A task whose operands are being added to a record.
struct Draft<'r> {
    record: &'r mut Record,
    node: Node,
}

impl Record {
    /// Adds a task, with an owner of each array that its gradient reads. Returns its number.
    ///
    /// # Errors
    /// If a gradient would flow to a part of another array, or to an array of another tape.
    pub(super) fn add_task(
        &mut self,
        task: &Task<'_>,
        gradient: &'static Gradient,
        tape: &impl Family,
    ) -> Result<usize> {
        let codelet = task.codelet();
        let mut node = self.node(codelet, gradient, task.location(), Again::Task, task.encoded_arguments());
        (node.rank, node.gate) = (tape.rank(), current_gate());
        let mut draft = Draft { record: self, node };
        for (index, (state, access)) in task.operands().enumerate() {
            let parameter = &codelet.parameters[index];
            let is_made = parameter.mode != AccessMode::R;
            let layout = draft.layout(&access.layout);
            let Some(state) = state else {
                draft.push(Operand::of_buffer(layout));
                continue;
            };
            let keeps = match tape.is_inside() {
                true => !is_made && draft.record.made(state.id()).is_none(),
                false => has(gradient.reads, index),
            };
            draft.array(state, &parameter.element, Place { index, layout, is_made, keeps }, tape)?;
        }
        Ok(draft.finish())
    }

    /// The same for an operation of several tasks.
    ///
    /// # Errors
    /// As for [`add_task`](Self::add_task).
    pub(super) fn add_composite(&mut self, call: &Composite<'_>, tape: &impl Family) -> Result<usize> {
        let &Composite { codelet, gradient, location, repeat, .. } = call;
        let mut node = self.node(codelet, gradient, location, Again::Tasks(repeat), &call.arguments);
        (node.rank, node.gate) = (tape.rank(), current_gate());
        let mut draft = Draft { record: self, node };
        for (index, &(state, element, ref layout)) in call.operands.iter().enumerate() {
            let keeps = match tape.is_inside() {
                true => has(gradient.inputs, index) && draft.record.made(state.id()).is_none(),
                false => has(gradient.reads, index),
            };
            let (layout, is_made) = (draft.layout(layout), has(gradient.outputs, index));
            draft.array(state, element, Place { index, layout, is_made, keeps }, tape)?;
        }
        Ok(draft.finish())
    }

    /// Adds a checkpoint whose result has this shape: as a task that made the result from what came from outside.
    pub(super) fn add_checkpoint(
        &mut self,
        checkpoint: Checkpoint,
        shape: &[usize],
        location: &'static std::panic::Location<'static>,
    ) {
        let (codelet, gradient) = (&super::checkpoint::CODELET, &super::checkpoint::GRADIENT);
        let again = Again::Checkpoint(self.checkpoints.len());
        let node = self.node(codelet, gradient, location, again, &[]);
        let mut draft = Draft { record: self, node };
        let layout = draft.layout(&contiguous(shape));
        let output = draft.record.number(checkpoint.output(), true);
        draft.push(Operand { array: Some(output), ..Operand::of_buffer(layout) });
        for (input, array) in checkpoint.inputs() {
            let layout = draft.layout(checkpoint.record.layout(input));
            let number = draft.record.number(array, false);
            draft.push(Operand { array: Some(number), layout, is_saved: false, ..*input });
        }
        draft.finish();
        self.checkpoints.push(checkpoint);
    }
}

/// An array in the place of a parameter.
#[derive(Clone, Copy)]
struct Place {
    index: usize,
    layout: u32,
    /// Whether the task makes it.
    is_made: bool,
    /// Whether it is saved.
    keeps: bool,
}

impl Draft<'_> {
    /// The number of a layout. Operands often have that of the one before.
    fn layout(&mut self, layout: &Layout) -> u32 {
        let layouts = &mut self.record.layouts;
        if !layouts.last().is_some_and(|last| last.is_same(layout)) {
            layouts.push(*layout);
        }
        super::record::compact(layouts.len() - 1)
    }

    fn push(&mut self, operand: Operand) {
        self.record.operands.push(operand);
    }

    fn array(
        &mut self,
        state: &ArrayState,
        element: &'static ElementType,
        place: Place,
        tape: &impl Family,
    ) -> Result<()> {
        let Node { codelet, gradient, .. } = self.node;
        let Place { index, layout, is_made, keeps } = place;
        let flows = has(gradient.inputs, index);
        if (flows || keeps) && state.whole().is_some() {
            // A gradient by a part would not reach the whole.
            return self.refuse(ErrorKind::PartOnTape { parameter: name_of(codelet, index) });
        }
        if flows && state.saves().tape().is_some_and(|made_under| !tape.knows(made_under)) {
            let parameter = name_of(codelet, index);
            return self.refuse(ErrorKind::ForeignTape { codelet: codelet.name, parameter });
        }
        if is_made {
            state.saves().set_of_tape(tape.number());
        }
        let array = Recorded::new(state.id(), element, gradient.addition);
        let number = self.record.number(&array, is_made);
        if keeps {
            self.record.arrays[number as usize].saved.get_or_insert_with(|| Shared::of_whole(state));
        }
        // The task itself writes an output, and nobody else does.
        let writes = if (flows || keeps) && !is_made { state.saves().begin() } else { 0 };
        let is_constant = state.saves().is_of_tape();
        self.push(Operand { writes, array: Some(number), layout, is_saved: keeps, is_constant });
        Ok(())
    }

    /// The task becomes one of the record's.
    fn finish(self) -> usize {
        self.record.push(self.node)
    }

    /// The error, and the record without the task.
    #[cold]
    fn refuse(&mut self, kind: ErrorKind) -> Result<()> {
        self.record.cut(&self.node);
        Err(Error::at(kind, self.node.location))
    }
}
