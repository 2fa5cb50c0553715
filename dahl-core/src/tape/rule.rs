//! What a gradient's rule gets: [`RuleCall`], for the code that `#[codelet]` writes, and [`RuleScope`], for the user's.
#![allow(unsafe_code, reason = "lends an array whose lifetime is that of the rule")]

use super::composite::Composite;
use super::gradient::{AdditionOf, Gradient};
use super::pass::Pass;
use super::record::{Node, Record};
use crate::arena::Arena;
use crate::argument::Argument;
use crate::array::{Array, Shared};
use crate::element::{Element, ElementType};
use crate::error::{Error, ErrorKind, Result};
use crate::submission::Task;

/// The call of a rule: the task whose gradient is computed.
pub struct RuleCall<'p> {
    pass: &'p Pass<'p>,
    record: &'p Record,
    node: &'p Node,
    /// The bytes of arguments that were taken.
    taken: usize,
}

/// Where a rule makes arrays: `*by_x = mul_init(rule.scope, ..)?`.
///
/// What is made here is differentiable again: under a tape inside of another tape, the outer one remembers it. A rule may
/// also write `by_x` by an operation that takes it (`mul(.., by_x)`); then its operation has a first gradient only.
pub struct RuleScope<'p> {
    pass: &'p Pass<'p>,
    addition: AdditionOf,
}

/// The gradient by an input, as a rule gets it: an array without a value, if the gradient is wanted.
#[derive(Debug)]
pub struct By<T: Element, const N: usize>(Option<Lent<T, N>>);

#[derive(Debug)]
struct Lent<T: Element, const N: usize> {
    array: Array<'static, T, N>,
    /// The array that was lent, and its writes then.
    given: Shared,
    writes: u64,
}

impl<'p> RuleCall<'p> {
    pub(super) fn new(pass: &'p Pass<'_>, record: &'p Record, node: &'p Node) -> Self {
        Self { pass, record, node, taken: 0 }
    }

    /// Where the rule makes arrays.
    pub fn scope(&self) -> RuleScope<'p> {
        RuleScope { pass: self.pass, addition: self.node.gradient.addition }
    }

    /// The number of arrays of the operation.
    pub fn arrays(&self) -> usize {
        self.record.operands(self.node).len()
    }

    /// The extents of an array of the operation.
    pub fn extents(&self, parameter: usize) -> &[usize] {
        self.record.operands(self.node)[parameter].layout.extents()
    }

    /// The value of a parameter, which the gradient reads.
    pub fn saved<T: Element, const N: usize>(&self, parameter: usize) -> Array<'static, T, N> {
        let operand = &self.record.operands(self.node)[parameter];
        let saved = operand.saved.as_ref().expect("a gradient saves what it reads");
        saved.share().into_array(extents(operand.layout.extents()))
    }

    /// The gradient by an output, if the loss depends on it.
    pub fn gradient<T: Element, const N: usize>(&self, parameter: usize) -> Option<Array<'static, T, N>> {
        let operand = &self.record.operands(self.node)[parameter];
        let found = self.pass.found(operand)?;
        Some(found.into_array(extents(operand.layout.extents())))
    }

    /// An array for the gradient by an input, if that is wanted: without a value, to be written or reduced into.
    ///
    /// # Errors
    /// If memory cannot be allocated.
    pub fn by<T: Element, const N: usize>(&self, parameter: usize) -> Result<By<T, N>> {
        let operand = &self.record.operands(self.node)[parameter];
        if !operand.id.is_some_and(|id| self.pass.is_active(id)) {
            return Ok(By(None));
        }
        let given = self.pass.make(operand.element, operand.layout.extents())?;
        given.state().reductions().forget(given.state(), self.node.location);
        let writes = given.state().saves().begin();
        let array = given.share().into_array(extents(operand.layout.extents()));
        Ok(By(Some(Lent { array, given, writes })))
    }

    /// Adds what the rule has put into `by` to the gradient by the input.
    ///
    /// # Errors
    /// If the rule has not written it; if it is no array that owns its elements; if an outer tape remembers the tasks, and
    /// the rule has written the array that it was given.
    pub fn add<T: Element, const N: usize>(&self, parameter: usize, by: By<T, N>) -> Result<()> {
        let Some(Lent { array, given, writes }) = by.0 else { return Ok(()) };
        let operand = &self.record.operands(self.node)[parameter];
        let (codelet, shape) = (self.node.codelet, array.shape());
        let fail = |fact: &'static str| {
            let kind = ErrorKind::Rule { codelet: codelet.name, input: self.node.name_of(parameter), fact };
            Err(Error::at(kind, self.node.location))
        };
        let Some(array) = Shared::from_array(array) else {
            return fail("is a part or a view of another array; make an array in `rule.scope`");
        };
        if shape[..] != *operand.layout.extents() {
            return fail("has not the shape of the input");
        }
        if array.state().id() == given.state().id() {
            if given.state().saves().pin(writes).is_ok() {
                given.state().saves().unpin();
                return fail("was not written by the rule");
            }
            if self.pass.outer().is_some() && !given.state().saves().is_of_tape() {
                return fail(
                    "cannot be differentiated again, since the outer tape does not know how its rule writes it; let the rule make it in its scope: `*by = .._init(rule.scope, ..)?`",
                );
            }
        }
        self.pass.give_back(given);
        let id = operand.id.expect("a gradient was lent for an array");
        self.pass.add(id, array, self.node.gradient.addition, self.node.location)
    }

    /// The next plain argument.
    pub fn argument<A: Argument>(&mut self) -> A {
        let bytes = &self.record.arguments(self.node)[self.taken..][..A::SIZE_BYTES];
        self.taken += A::SIZE_BYTES;
        A::decode(bytes)
    }
}

impl<T: Element, const N: usize> By<T, N> {
    /// The array, for the rule.
    pub fn lend<'r>(&'r mut self) -> Option<&'r mut Array<'r, T, N>> {
        let lent = self.0.as_mut()?;
        // SAFETY: `add`, which alone uses the array afterwards, takes it only if it owns its elements.
        Some(unsafe { lent.array.shortened() })
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
        // The pass, the rule, and this one.
        if shared.owners() > 3 {
            return Ok(self.pass.copy(&shared, self.addition)?.into_array(gradient.shape()));
        }
        if !shared.state().saves().is_of_tape() {
            shared.state().saves().set_shared();
        }
        Ok(shared.into_array(gradient.shape()))
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
        let made = self.pass.make(ElementType::of::<T>(), &shape)?;
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
