//! What a gradient's rule gets: [`RuleCall`], for the code that `#[codelet]` writes, and [`RuleScope`], for the user's.
#![allow(unsafe_code, reason = "lends an array whose lifetime is that of the rule")]

use std::cell::{Cell, RefCell};

use super::composite::Composite;
use super::gradient::{AdditionOf, Gradient};
use super::pass::Pass;
use super::record::{Node, Operand, Record};
use crate::arena::Arena;
use crate::argument::Argument;
use crate::array::{Array, Shared};
use crate::array_id::ArrayId;
use crate::element::{Element, ElementType};
use crate::error::{Error, ErrorKind, Result};
use crate::submission::Task;

/// The call of a rule: the task whose gradient is computed.
pub struct RuleCall<'p> {
    pass: &'p Pass<'p>,
    record: &'p Record,
    node: &'p Node,
    /// The bytes of arguments that were taken.
    taken: Cell<usize>,
    /// The gradients by outputs, with their numbers. They are the pass's again when the call ends.
    gradients: Vec<(usize, Shared)>,
    /// What was lent to the rule and has not been added. The owners stay in place until the call ends.
    lent: RefCell<Vec<Lent>>,
}

/// An array for a gradient, which a rule may write.
#[derive(Debug)]
pub(super) struct Lent {
    array: Shared,
    /// Its writes before.
    writes: u64,
    /// The array by which it is the gradient.
    by: ArrayId,
    /// Whether it is an array of the caller's, which takes nothing but contributions.
    is_sum: bool,
    /// Whether the rule has refused it.
    is_refused: bool,
}

/// What an error says of a gradient that a rule [refuses](RuleScope::refuse).
pub const REFUSED: &str =
    "is not defined, on purpose; pass the input as a constant, made by `tape.detached()`";

impl Lent {
    /// The rule has no further access.
    fn end(&self) {
        if self.is_sum {
            self.array.state().saves().set_reducing(false);
        }
    }
}

/// Where a rule makes arrays: `*by_x = mul_init(rule.scope, ..)?`.
///
/// What is made here is differentiable again: under a tape inside of another tape, the outer one remembers it. A rule may
/// also write `by_x` by an operation that takes it (`mul(.., by_x)`); then its operation has a first gradient only.
pub struct RuleScope<'p> {
    pass: &'p Pass<'p>,
    addition: AdditionOf,
    lent: &'p RefCell<Vec<Lent>>,
}

/// The gradient by an input, as a rule gets it: an array without a value, if the gradient is wanted.
#[derive(Debug)]
pub struct By<'c, T: Element, const N: usize>(Option<Array<'c, T, N>>);

impl<'p> RuleCall<'p> {
    pub(super) fn new(pass: &'p Pass<'_>, record: &'p Record, node: &'p Node) -> Self {
        let (mut gradients, lent) = pass.take_rule_memory();
        for output in record.outputs(node) {
            gradients.extend(pass.take_found(output).map(|found| (output, found)));
        }
        Self { pass, record, node, taken: Cell::new(0), gradients, lent: RefCell::new(lent) }
    }

    /// Where the rule makes arrays.
    pub fn scope(&self) -> RuleScope<'_> {
        RuleScope { pass: self.pass, addition: self.node.gradient.addition, lent: &self.lent }
    }

    /// The number of arrays of the operation.
    pub fn arrays(&self) -> usize {
        self.record.operands(self.node).len()
    }

    fn operand(&self, parameter: usize) -> &'p Operand {
        &self.record.operands(self.node)[parameter]
    }

    /// The extents of an array of the operation.
    pub fn extents(&self, parameter: usize) -> &[usize] {
        self.record.layout(self.operand(parameter)).extents()
    }

    /// The value of a parameter, which the gradient reads.
    pub fn saved<T: Element, const N: usize>(&self, parameter: usize) -> Array<'_, T, N> {
        let saved = self.record.saved(self.operand(parameter)).expect("a gradient saves what it reads");
        // SAFETY: the record keeps its owner, and this borrows the record.
        unsafe { saved.lend(extents(self.extents(parameter))) }
    }

    /// The gradient by an output, if the loss depends on it.
    pub fn gradient<T: Element, const N: usize>(&self, parameter: usize) -> Option<Array<'_, T, N>> {
        let number = self.operand(parameter).number()?;
        let (_, found) = self.gradients.iter().find(|(output, _)| *output == number)?;
        // SAFETY: the call keeps the owner until it ends, and this borrows the call.
        Some(unsafe { found.lend(extents(self.extents(parameter))) })
    }

    /// An array for the gradient by an input, if that is wanted: without a value, to be written or reduced into.
    ///
    /// # Errors
    /// If memory cannot be allocated.
    pub fn by<T: Element, const N: usize>(&self, parameter: usize) -> Result<By<'_, T, N>> {
        let operand = self.operand(parameter);
        if !self.pass.is_active(operand) {
            return Ok(By(None));
        }
        let shape = self.record.layout(operand).extents();
        let array = self.pass.make_to_lend(self.record.array(operand).element, shape)?;
        let writes = array.state().saves().begin();
        // SAFETY: the owner goes to `lent`. From there `add` alone takes it before the call ends, for the handle that it is
        // given, which is the only one. `By` borrows the call.
        let lent = unsafe { array.lend(extents(shape)) };
        let by = self.record.array(operand).id;
        self.lent.borrow_mut().push(Lent { array, writes, by, is_sum: false, is_refused: false });
        Ok(By(Some(lent)))
    }

    /// Adds what the rule has put into `by` to the gradient by the input.
    ///
    /// # Errors
    /// If it is an array that was lent to the rule, for this input or another one, and the rule has not written it; if it
    /// is no array that owns its elements; if an outer tape remembers the tasks, and the rule has written an array that
    /// was lent.
    pub fn add<T: Element, const N: usize>(&self, parameter: usize, by: By<'_, T, N>) -> Result<()> {
        let Some(array) = by.0 else { return Ok(()) };
        let (codelet, shape, id) = (self.node.codelet, array.shape(), array.id());
        let fail = |fact: &'static str| {
            let kind = ErrorKind::Rule { codelet: codelet.name, input: self.node.name_of(parameter), fact };
            Err(Error::at(kind, self.node.location))
        };
        if shape[..] != *self.extents(parameter) {
            return fail("has not the shape of the input");
        }
        let lent = self.lent.borrow().iter().position(|lent| lent.array.state().id() == id);
        let array = if let Some(lent) = lent {
            let lent = self.lent.borrow_mut().swap_remove(lent);
            lent.end();
            let Lent { array, writes, by, is_sum, is_refused } = lent;
            let saves = array.state().saves();
            if saves.begin() == writes {
                return fail(if is_refused { REFUSED } else { "was not written by the rule" });
            }
            if is_sum {
                self.pass.note_contribution(by);
                return Ok(());
            }
            if self.pass.outer().is_some() && !saves.is_of_tape() {
                return fail(
                    "cannot be differentiated again, since the outer tape does not know how its rule writes it; let the rule make it in its scope: `*by = .._init(rule.scope, ..)?`",
                );
            }
            array
        } else if let Some(array) = Shared::from_array(array) {
            array
        } else {
            return fail("is a part or a view of another array; make an array in `rule.scope`");
        };
        self.pass.add(self.record, self.operand(parameter), array, self.node.location)
    }

    /// The next plain argument.
    pub fn argument<A: Argument>(&self) -> A {
        let start = self.taken.get();
        self.taken.set(start + A::SIZE_BYTES);
        A::decode(&self.record.arguments(self.node)[start..][..A::SIZE_BYTES])
    }
}

impl Drop for RuleCall<'_> {
    fn drop(&mut self) {
        for (output, found) in self.gradients.drain(..) {
            self.pass.put_found(output, found);
        }
        for lent in self.lent.get_mut().drain(..) {
            lent.end();
            let is_written = lent.array.state().saves().begin() != lent.writes;
            self.pass.end_loan(lent.array, is_written);
        }
        let memory = (std::mem::take(&mut self.gradients), std::mem::take(self.lent.get_mut()));
        self.pass.keep_rule_memory(memory);
    }
}

impl<T: Element, const N: usize> By<'_, T, N> {
    /// The array, for the rule.
    pub fn lend<'r>(&'r mut self) -> Option<&'r mut Array<'r, T, N>> {
        let lent = self.0.as_mut()?;
        // SAFETY: `add`, which alone uses the array afterwards, takes it only if it owns its elements, or is one that was
        // lent, whose owner the call keeps.
        Some(unsafe { lent.shortened() })
    }
}

impl RuleScope<'_> {
    /// The same gradient for an input: another handle, or a copy if others have the array too. It cannot be written from
    /// here on.
    ///
    /// # Errors
    /// If it is a part of another array, or memory cannot be allocated.
    pub fn same<'r, T: Element, const N: usize>(
        &'r self,
        gradient: &Array<'_, T, N>,
    ) -> Result<Array<'r, T, N>> {
        let Some(shared) = Shared::of(gradient.state()) else {
            return Err(Error::at(ErrorKind::PartOnTape { parameter: "gradient" }, self.pass.location()));
        };
        // The pass, and this one.
        if shared.owners() > 2 {
            return Ok(self.pass.copy(&shared, self.addition)?.into_array(gradient.shape()));
        }
        if !shared.state().saves().is_of_tape() {
            shared.state().saves().set_shared();
        }
        Ok(shared.into_array(gradient.shape()))
    }

    /// Puts the array that gradients by an input are added to in the place of `by`, which was lent to the rule, if the caller
    /// accumulates this gradient. Returns whether it has. The rule must then contribute to it by operations that reduce
    /// into it with a sum: any other change is an error. That spares an array and the task that adds it.
    pub fn sum<'r, T: Element, const N: usize>(&'r self, by: &mut Array<'r, T, N>) -> bool {
        let mut all = self.lent.borrow_mut();
        let Some(lent) = all.iter().find(|lent| lent.array.state().id() == by.id()) else { return false };
        if lent.is_sum {
            return true;
        }
        let wanted = lent.by;
        let Some(sum) = self.pass.sum_of(wanted).filter(|sum| sum.element().is::<T>()) else { return false };
        // A task has one access to an array: two inputs that are the same array have one handle of their sum.
        if all.iter().any(|lent| lent.is_sum && lent.array.state().id() == sum.state().id()) {
            return false;
        }
        sum.state().saves().set_reducing(true);
        let writes = sum.state().saves().begin();
        // SAFETY: an owner of the array lives for `'r`: it goes to `lent`, from where `RuleCall::add` and the end of the call
        // alone take it. The array that was lent before stays in `lent` too, since the rule may still have a handle of it.
        *by = unsafe { sum.lend(by.shape()) };
        all.push(Lent { array: sum, writes, by: wanted, is_sum: true, is_refused: false });
        true
    }

    /// Says that the operation has no gradient by an input, on purpose: if somebody wants it, that is an error.
    pub fn refuse<T: Element, const N: usize>(&self, by: Option<&mut Array<'_, T, N>>) {
        let Some(by) = by else { return };
        let mut all = self.lent.borrow_mut();
        let lent = all.iter_mut().find(|lent| lent.array.state().id() == by.id());
        if let Some(lent) = lent {
            lent.is_refused = true;
        }
    }

    /// Whether an outer tape remembers what runs here.
    pub fn is_remembered(&self) -> bool {
        self.pass.outer().is_some()
    }

    /// An arena: what is made there is not differentiated again, on purpose.
    pub fn detached(&self) -> &Arena {
        self.pass.arena()
    }

    pub(super) fn make<T: Element, const N: usize>(
        &self,
        shape: [usize; N],
        reduces: bool,
    ) -> Result<Array<'_, T, N>> {
        crate::array::byte_len::<T>(&shape)?;
        let made = self.pass.make(&ElementType::of::<T>(), &shape)?;
        if reduces {
            made.state().reductions().forget(made.state(), self.pass.location());
        }
        Ok(made.into_array(shape))
    }

    pub(super) fn run(&self, task: Task<'_>, gradient: &'static Gradient) -> Result<()> {
        self.pass.submit(task, gradient)
    }

    pub(super) fn add(&self, call: &Composite<'_>) -> Result<()> {
        self.pass.outer().map_or(Ok(()), |outer| outer.add(call))
    }
}

impl std::fmt::Debug for RuleScope<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RuleScope").finish_non_exhaustive()
    }
}

impl std::fmt::Debug for RuleCall<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RuleCall").field("node", self.node).finish_non_exhaustive()
    }
}

/// Extents of a known rank.
fn extents<const N: usize>(extents: &[usize]) -> [usize; N] {
    extents.try_into().expect("a rule is of the rank of its task")
}
