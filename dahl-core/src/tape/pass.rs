//! [`Pass`]: a reverse pass over the tasks of a tape.

use std::panic::Location;

use super::composite::Composite;
use super::gradient::{Gradient, Rule};
use super::memory::{self, Memory};
use super::record::{Node, Operand, Record};
use super::rule::{Lent, RuleCall};
use crate::arena::Arena;
use crate::array::{Array, Shared};
use crate::array_id::ArrayId;
use crate::element::{Element, ElementType};
use crate::error::{Error, ErrorKind, Result};
use crate::shape::Layout;
use crate::submission::{Task, within_gate};

/// A tape, as the arrays that are made under it know it.
pub(super) trait Family {
    /// Its number, which is in the arrays that are made under it.
    fn number(&self) -> u64;

    /// Whether arrays that were made under the tape of this number may be inputs here: it is this tape, the tape whose
    /// checkpoint this one is in, or one that remembers what runs here.
    fn knows(&self, number: u64) -> bool;

    /// Whether it is the inside of a checkpoint: what comes from outside is saved, and nothing else.
    fn is_inside(&self) -> bool;

    /// The rank that runs the tasks which are submitted now, if a call of `on_rank` says so.
    fn rank(&self) -> Option<usize>;
}

/// What remembers the tasks of a reverse pass: an outer tape.
pub(super) trait Outer: Family + Sync {
    /// Submits a task, and remembers it.
    fn run(&self, task: Task<'_>, gradient: &'static Gradient) -> Result<()>;

    /// Remembers an operation of several tasks.
    fn add(&self, call: &Composite<'_>) -> Result<()>;
}

/// A reverse pass: where it makes arrays, and the gradients that it has found so far.
pub struct Pass<'t> {
    arena: &'t Arena,
    /// The tape that remembers the tasks of the pass.
    outer: Option<&'t dyn Outer>,
    location: &'static Location<'static>,
    /// Whether an array of another runtime is wanted.
    is_foreign: bool,
    memory: Memory,
}

impl<'t> Pass<'t> {
    pub(super) fn new(
        arena: &'t Arena,
        outer: Option<&'t dyn Outer>,
        memory: Memory,
        location: &'static Location<'static>,
    ) -> Self {
        Self { arena, outer, location, is_foreign: false, memory }
    }

    pub(super) fn into_memory(mut self) -> Memory {
        self.memory.clear();
        self.memory
    }

    /// Asks for the gradient by an array.
    pub(super) fn want(&mut self, array: Shared) {
        self.memory.want(array);
    }

    /// Asks for the gradient by an array, if it is of this runtime. Nothing flows to a part of another array.
    pub fn want_array<T: Element, const N: usize>(&mut self, array: &Array<'_, T, N>) {
        self.want_runtime(array);
        if let Some(array) = Shared::of(array.state()).filter(|_| !self.is_foreign) {
            self.want(array);
        }
    }

    /// Requires that an array is of this runtime.
    pub fn want_runtime<T: Element, const N: usize>(&mut self, array: &Array<'_, T, N>) {
        self.is_foreign |= !self.arena.is_of(&**array.state().engine());
    }

    /// Asks for the gradient by an array, to be added to `sum`. Rules may contribute to `sum` directly, unless the array was
    /// made under the tape, where others need the gradient too.
    pub fn want_sum<T: Element, const N: usize>(&mut self, array: &Array<'_, T, N>, sum: &Array<'_, T, N>) {
        // With two sums, rules contribute to neither.
        let is_first = self.memory.forget_sum(array.id());
        self.want_array(array);
        self.want_runtime(sum);
        let is_plain = self.outer.is_none() && !self.is_foreign && array.shape() == sum.shape();
        let may_change = !sum.state().saves().is_of_tape() && !array.state().saves().is_of_tape();
        if let Some(sum) = Shared::of(sum.state()).filter(|_| is_first && is_plain && may_change) {
            self.memory.want_sum(array.id(), sum);
        }
    }

    /// The array that gradients by this one are added to, if rules may contribute to it.
    pub(super) fn sum_of(&self, id: ArrayId) -> Option<Shared> {
        self.memory.sum_of(id)
    }

    /// A rule has contributed to the array that gradients by this one are added to.
    pub(super) fn note_contribution(&self, id: ArrayId) {
        self.memory.note_contribution(id);
    }

    /// Whether every wanted array is of this runtime.
    pub(super) fn require_one_runtime(&self) -> Result<()> {
        if self.is_foreign {
            return Err(Error::at(ErrorKind::TwoRuntimes { codelet: "gradients" }, self.location));
        }
        Ok(())
    }

    pub(super) fn arena(&self) -> &'t Arena {
        self.arena
    }

    pub(super) fn outer(&self) -> Option<&'t dyn Outer> {
        self.outer
    }

    pub(super) fn location(&self) -> &'static Location<'static> {
        self.location
    }

    /// Submits the tasks that compute the gradients of `loss`, whose own gradient is `seed`.
    /// False if it does not depend on what is wanted.
    pub(super) fn run(&mut self, record: &Record, loss: ArrayId, seed: Shared) -> Result<bool> {
        let Some(loss) = record.made(loss) else {
            return Err(Error::at(ErrorKind::NotOnTape, self.location));
        };
        self.memory.activate(record)?;
        if !self.memory.is_active(loss) {
            return Ok(false);
        }
        if !self.memory.may_add(record, loss) {
            return Ok(true);
        }
        self.memory.found.get_mut()[loss] = Some(seed);
        for (index, node) in record.nodes().iter().enumerate().rev() {
            if !self.memory.runs(index) {
                continue;
            }
            let found = self.memory.found.get_mut();
            if record.outputs(node).any(|output| found[output].is_some()) {
                let run = || within_gate(node.gate, || self.node(record, node));
                self.arena.placed(node.rank, run)?;
            }
            // Tasks before this one do not use its outputs.
            for output in record.outputs(node).filter(|output| !self.memory.is_wanted(*output)) {
                let found = self.memory.found.borrow_mut()[output].take();
                found.into_iter().for_each(|found| self.give_back(found));
            }
        }
        self.memory.finish(record);
        Ok(true)
    }

    /// Submits the tasks of one task's gradient.
    fn node(&self, record: &Record, node: &Node) -> Result<()> {
        match &node.gradient.rule {
            Rule::Nothing | Rule::Zero => Ok(()),
            Rule::Maps(maps) => maps.iter().try_for_each(|map| self.map(record, node, map)),
            Rule::Checkpoint => match record.checkpoint(node) {
                Some(checkpoint) => self.checkpoint(checkpoint, record, node),
                None => Ok(()),
            },
            Rule::Expression(derivatives) => {
                let operands = 0..derivatives.operands();
                operands.into_iter().try_for_each(|by| self.expression(record, node, derivatives, by))
            }
            Rule::Adjoint(adjoint) => self.adjoint(record, node, adjoint()),
            Rule::Function(function) => {
                let call = || function(&mut RuleCall::new(self, record, node));
                self.while_pinned(record, node, node.gradient.reads, call)
            }
        }
    }

    /// Submits a task of the pass, which the outer tape remembers.
    pub(super) fn submit(&self, task: Task<'_>, gradient: &'static Gradient) -> Result<()> {
        match self.outer {
            Some(outer) => outer.run(task, gradient),
            None => task.submit(),
        }
    }

    /// An array whose first task must write every element: one that nobody needs any more, or a new one.
    pub(super) fn make(&self, element: &ElementType, extents: &[usize]) -> Result<Shared> {
        match self.memory.take_free(element, extents.iter().product()) {
            Some(free) => Ok(free),
            None => self.arena.shared(*element, extents),
        }
    }

    /// An array without a value, to be lent to a rule. Most rules put another array in its place, so it is often one that the
    /// rule before got.
    pub(super) fn make_to_lend(&self, element: &ElementType, extents: &[usize]) -> Result<Shared> {
        let array = match self.memory.take_unwritten(element, extents.iter().product()) {
            // As it was lent the last time, unless a task has read it.
            // Over several ranks it may be open on one and not on another, which all must do the same.
            Some(unwritten) if unwritten.state().reductions().is_open() && !self.is_over_ranks() => {
                return Ok(unwritten);
            }
            Some(unwritten) => unwritten,
            None => self.make(element, extents)?,
        };
        array.state().reductions().forget(array.state(), self.location);
        Ok(array)
    }

    /// Whether tasks may run on other ranks.
    fn is_over_ranks(&self) -> bool {
        self.arena.ranks() > 1
    }

    /// Takes back an array that was lent to a rule, which has written it or not.
    pub(super) fn end_loan(&self, array: Shared, is_written: bool) {
        if !is_written && self.outer.is_none() && array.is_sole() && !array.state().saves().is_of_tape() {
            self.memory.give_back_unwritten(array);
        } else {
            self.give_back(array);
        }
    }

    /// Takes back an array that this pass does not need any more. Tasks that use it still come before those that write it
    /// next.
    pub(super) fn give_back(&self, array: Shared) {
        if self.outer.is_none() && array.is_sole() && !array.state().saves().is_of_tape() {
            self.memory.give_back(array);
        }
    }

    /// Whether a gradient by this operand is computed.
    pub(super) fn is_active(&self, operand: &Operand) -> bool {
        operand.number().is_some_and(|array| self.memory.is_active(array))
    }

    /// Calls `f` with the gradient by an output, if one is known.
    pub(super) fn with_found<R>(&self, output: &Operand, f: impl FnOnce(&Shared) -> R) -> Option<R> {
        self.memory.found.borrow()[output.number()?].as_ref().map(f)
    }

    /// Adds a contribution to the gradient by an operand.
    pub(super) fn add(
        &self,
        record: &Record,
        by: &Operand,
        gradient: Shared,
        location: &'static Location<'static>,
    ) -> Result<()> {
        let Some(number) = by.number() else { return Ok(()) };
        let before = self.memory.found.borrow_mut()[number].take();
        let gradient = match before {
            None => gradient,
            Some(before) => self.sum(before, gradient, record.arrays()[number].addition, location)?,
        };
        self.memory.found.borrow_mut()[number] = Some(gradient);
        Ok(())
    }

    /// Takes the gradient by an array out of the pass while a rule reads it.
    pub(super) fn take_found(&self, array: usize) -> Option<Shared> {
        self.memory.found.borrow_mut()[array].take()
    }

    /// Puts the gradient by an array back.
    pub(super) fn put_found(&self, array: usize, gradient: Shared) {
        self.memory.found.borrow_mut()[array] = Some(gradient);
    }

    /// The memory for the call of a rule.
    pub(super) fn take_rule_memory(&self) -> (Vec<(usize, Shared)>, Vec<Lent>) {
        (self.memory.gradients.take(), self.memory.lent.take())
    }

    /// Keeps the memory of the call of a rule.
    pub(super) fn keep_rule_memory(&self, (gradients, lent): (Vec<(usize, Shared)>, Vec<Lent>)) {
        self.memory.gradients.set(gradients);
        self.memory.lent.set(lent);
    }

    /// Takes the gradient by a wanted array out of the pass.
    pub(super) fn take_result(&mut self, id: ArrayId) -> Option<Shared> {
        Some(self.memory.results.remove(&id)?.array)
    }

    /// The error of a pass for something that does not depend on what is wanted.
    pub(super) fn independent(&self) -> Error {
        let several = self.memory.wanted() > 1;
        self.no_dependence(if several { "any of the wanted arrays" } else { "the wanted array" }.to_owned())
    }

    /// The gradient by a wanted array.
    pub(super) fn take<T: Element, const N: usize>(
        &self,
        wanted: &Array<'_, T, N>,
    ) -> Result<Array<'t, T, N>> {
        Ok(self.own(self.result(wanted)?)?.into_array(wanted.shape()))
    }

    /// The gradient by a wanted array whose type is not known; none if what the pass began with does not depend on it.
    pub(super) fn take_any(&self, wanted: &Shared) -> Result<Option<Shared>> {
        self.memory.results.get(&wanted.state().id()).map(|gradient| self.own(gradient)).transpose()
    }

    /// A gradient as an array that the caller may change.
    fn own(&self, gradient: &memory::Gradient) -> Result<Shared> {
        if gradient.array.is_sole() && !gradient.array.state().saves().is_of_tape() {
            return Ok(gradient.array.share());
        }
        // Others have it too.
        self.copy(&gradient.array, gradient.addition)
    }

    /// Whether a gradient by this array was found.
    pub fn require_found<T: Element, const N: usize>(&self, wanted: &Array<'_, T, N>) -> Result<()> {
        let is_found = match self.memory.unreached.is_empty() {
            true => {
                self.memory.has_contributions(wanted.id()) || self.memory.results.contains_key(&wanted.id())
            }
            false => !self.memory.unreached.contains(&wanted.id()),
        };
        if is_found { Ok(()) } else { Err(self.independent_of(wanted)) }
    }

    fn result<T: Element, const N: usize>(&self, wanted: &Array<'_, T, N>) -> Result<&memory::Gradient> {
        let found = self.memory.results.get(&wanted.id());
        found.ok_or_else(|| self.independent_of(wanted))
    }

    fn independent_of<T: Element, const N: usize>(&self, wanted: &Array<'_, T, N>) -> Error {
        self.no_dependence(format!("the array of shape {:?}", wanted.shape()))
    }

    /// Adds the gradient by a wanted array to `sum`, as a contribution to a reduction.
    pub fn accumulate<T: Element, const N: usize>(
        &self,
        wanted: &Array<'_, T, N>,
        sum: &mut Array<'_, T, N>,
    ) -> Result<()> {
        if sum.shape() != wanted.shape() {
            let fact = format!("the sum has shape {:?}, the array {:?}", sum.shape(), wanted.shape());
            return Err(Error::at(ErrorKind::InvalidShape { subject: "accumulate", fact }, self.location));
        }
        if sum.state().saves().is_of_tape() {
            return Err(Error::at(ErrorKind::WritesTape { call: "accumulate" }, self.location));
        }
        if self.memory.has_contributions(wanted.id()) && !self.memory.results.contains_key(&wanted.id()) {
            return Ok(());
        }
        let gradient = self.result(wanted)?;
        self.contribute(&gradient.array, gradient.addition, sum)
    }

    fn no_dependence(&self, subject: String) -> Error {
        Error::at(ErrorKind::NoDependence { subject }, self.location)
    }
}

/// The layout of a whole array.
pub(super) fn contiguous(extents: &[usize]) -> Layout {
    let mut layout = Layout::EMPTY;
    layout.set_contiguous(extents);
    layout
}
