//! [`Pass`]: a reverse pass over the tasks of a tape.

use std::cell::RefCell;
use std::panic::Location;

use super::composite::Composite;
use super::gradient::{Addition, AdditionOf, Gradient, Linear, Rule};
use super::ids::{ById, Ids};
use super::record::{Family, Node, Operand, Pins, Record, has};
use super::rule::RuleCall;
use crate::access::AccessMode;
use crate::arena::Arena;
use crate::array::{Array, Shared};
use crate::array_id::ArrayId;
use crate::codelet::Codelet;
use crate::description::Over;
use crate::element::{Element, ElementType};
use crate::error::{Error, ErrorKind, Result};
use crate::shape::Layout;
use crate::submission::Task;

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
    memory: RefCell<Memory>,
}

/// What a pass needs; the tape keeps it for the next one.
#[derive(Default, Debug)]
pub(super) struct Memory {
    /// The wanted arrays, each with the writes before the value that the tasks have read, and the line of its last write.
    wanted: ById<Wanted>,
    /// The arrays whose gradients are computed: those that are wanted, and what depends on them.
    active: Ids,
    /// Whether each task of the record has an active input.
    runs: Vec<bool>,
    /// The gradients by arrays, as far as they are known.
    found: ById<Found>,
    /// Arrays that are not needed any more.
    free: Vec<Shared>,
}

/// What is known of a wanted array.
#[derive(Debug, Default)]
struct Wanted {
    writes: Option<u64>,
    written_at: Option<&'static Location<'static>>,
}

/// A gradient by an array, as far as it is known.
#[derive(Debug)]
struct Found {
    gradient: Shared,
    /// How another contribution is added to it.
    addition: AdditionOf,
}

impl Memory {
    /// Requires that all tasks have read the same value of a wanted array.
    fn require_one_value(&mut self, record: &Record, node: &Node) -> Result<()> {
        for (index, operand) in record.operands(node).iter().enumerate() {
            if !has(node.gradient.inputs, index) {
                continue;
            }
            let Some(wanted) = operand.id.and_then(|id| self.wanted.get_mut(&id)) else { continue };
            if *wanted.writes.get_or_insert(operand.writes) != operand.writes
                && let Some(written_at) = wanted.written_at
            {
                let (codelet, parameter) = (node.codelet.name, node.name_of(index));
                let kind = ErrorKind::Overwritten { codelet, parameter, written_at };
                return Err(Error::at(kind, node.location));
            }
        }
        Ok(())
    }

    /// For another pass.
    pub(super) fn clear(&mut self) {
        self.wanted.clear();
        self.active.clear();
        self.runs.clear();
        self.found.clear();
        self.free.clear();
    }
}

impl<'t> Pass<'t> {
    pub(super) fn new(
        arena: &'t Arena,
        outer: Option<&'t dyn Outer>,
        memory: Memory,
        location: &'static Location<'static>,
    ) -> Self {
        Self { arena, outer, location, is_foreign: false, memory: RefCell::new(memory) }
    }

    pub(super) fn into_memory(self) -> Memory {
        let mut memory = self.memory.into_inner();
        memory.clear();
        memory
    }

    /// Asks for the gradient by an array.
    pub(super) fn want(&mut self, id: ArrayId) {
        let memory = self.memory.get_mut();
        memory.wanted.entry(id).or_default();
        memory.active.insert(id);
    }

    /// Asks for the gradient by an array, if it is of this runtime.
    pub fn want_array<T: Element, const N: usize>(&mut self, array: &Array<'_, T, N>) {
        if !self.arena.is_of(&**array.state().engine()) {
            self.is_foreign = true;
            return;
        }
        self.want(array.id());
        let written_at = array.state().saves().written_at();
        if let Some(wanted) = self.memory.get_mut().wanted.get_mut(&array.id()) {
            wanted.written_at = written_at;
        }
    }

    /// Requires that an array is of this runtime.
    pub fn want_runtime<T: Element, const N: usize>(&mut self, array: &Array<'_, T, N>) {
        self.is_foreign |= !self.arena.is_of(&**array.state().engine());
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

    /// Submits the tasks that compute the gradients of `loss`, whose own gradient is `seed`.
    /// False if it does not depend on what is wanted.
    pub(super) fn run(&mut self, record: &Record, loss: ArrayId, seed: Shared) -> Result<bool> {
        let memory = self.memory.get_mut();
        let mut addition = None;
        for node in record.nodes() {
            let runs = record.inputs(node).any(|id| memory.active.contains(&id));
            if runs {
                memory.require_one_value(record, node)?;
            }
            for output in record.outputs(node) {
                if output == loss {
                    addition = Some(record.addition(node, output));
                }
                if runs {
                    memory.active.insert(output);
                }
            }
            memory.runs.push(runs);
        }
        let Some(addition) = addition else { return Err(Error::at(ErrorKind::NotOnTape, self.location)) };
        if !memory.active.contains(&loss) {
            return Ok(false);
        }
        memory.found.insert(loss, Found { gradient: seed, addition });
        for (index, node) in record.nodes().iter().enumerate().rev() {
            if !self.memory.get_mut().runs[index] {
                continue;
            }
            if record.outputs(node).any(|id| self.memory.get_mut().found.contains_key(&id)) {
                self.node(record, node)?;
            }
            // Tasks before this one do not use its outputs.
            for id in record.outputs(node) {
                let memory = self.memory.get_mut();
                if !memory.wanted.contains_key(&id)
                    && let Some(found) = memory.found.remove(&id)
                {
                    self.give_back(found.gradient);
                }
            }
        }
        Ok(true)
    }

    /// Submits the tasks of one task's gradient.
    fn node(&self, record: &Record, node: &Node) -> Result<()> {
        match &node.gradient.rule {
            Rule::Nothing => Ok(()),
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
                let pins = Pins::new(record, node, node.gradient.reads)?;
                let result = function(&mut RuleCall::new(self, record, node));
                drop(pins);
                result
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
    pub(super) fn make(&self, element: ElementType, extents: &[usize]) -> Result<Shared> {
        let len: usize = extents.iter().product();
        let mut memory = self.memory.borrow_mut();
        let free = memory.free.iter().rposition(|free| free.len() == len && free.element() == element);
        match free {
            Some(free) => Ok(memory.free.swap_remove(free)),
            None => self.arena.shared(element, extents),
        }
    }

    /// Takes back an array that this pass does not need any more. Tasks that use it still come before those that write it
    /// next.
    pub(super) fn give_back(&self, array: Shared) {
        if self.outer.is_none() && array.is_sole() && !array.state().saves().is_of_tape() {
            self.memory.borrow_mut().free.push(array);
        }
    }

    pub(super) fn location(&self) -> &'static Location<'static> {
        self.location
    }

    pub(super) fn is_active(&self, id: ArrayId) -> bool {
        self.memory.borrow().active.contains(&id)
    }

    /// The gradient by an output, as far as it is known.
    pub(super) fn found(&self, output: &Operand) -> Option<Shared> {
        self.memory.borrow().found.get(&output.id?).map(|found| found.gradient.share())
    }

    /// Adds a contribution to the gradient by an array.
    pub(super) fn add(
        &self,
        id: ArrayId,
        gradient: Shared,
        addition: AdditionOf,
        location: &'static Location<'static>,
    ) -> Result<()> {
        let before = self.memory.borrow_mut().found.remove(&id);
        let gradient = match before {
            None => gradient,
            Some(before) => self.sum(before.gradient, gradient, addition, location)?,
        };
        self.memory.borrow_mut().found.insert(id, Found { gradient, addition });
        Ok(())
    }

    /// `x + y`, in the place of `x` if nobody else uses it.
    fn sum(
        &self,
        x: Shared,
        y: Shared,
        addition: AdditionOf,
        location: &'static Location<'static>,
    ) -> Result<Shared> {
        let addition = self.addition(addition, x.element())?;
        let layout = contiguous(&[x.len()]);
        let codelet: &'static Codelet = (addition.add)();
        if self.outer.is_none() && x.is_sole() && x.state().id() != y.state().id() {
            let mut task = Task::of_call(codelet, Over::of(codelet), location);
            task.push_shared(&x, AccessMode::RW, &layout);
            task.push_shared(&y, AccessMode::R, &layout);
            task.submit()?;
            self.give_back(y);
            return Ok(x);
        }
        let made = self.make(x.element(), &[x.len()])?;
        let mut task = Task::of_call(codelet, None, location);
        task.push_shared(&x, AccessMode::R, &layout);
        task.push_shared(&y, AccessMode::R, &layout);
        task.push_shared(&made, AccessMode::W, &layout);
        self.submit(task, (addition.add_gradient)())?;
        Ok(made)
    }

    /// Takes the gradient by an array out of the pass.
    pub(super) fn take_found(&self, id: ArrayId) -> Option<(Shared, AdditionOf)> {
        let found = self.memory.borrow_mut().found.remove(&id)?;
        Some((found.gradient, found.addition))
    }

    /// The error of a pass for something that does not depend on what is wanted.
    pub(super) fn independent(&self) -> Error {
        let several = self.memory.borrow().wanted.len() > 1;
        self.no_dependence(if several { "any of the wanted arrays" } else { "the wanted array" }.to_owned())
    }

    /// The gradient by a wanted array.
    pub(super) fn take<T: Element, const N: usize>(
        &self,
        wanted: &Array<'_, T, N>,
    ) -> Result<Array<'t, T, N>> {
        let found = |found: &Found| (found.gradient.is_sole(), found.gradient.share(), found.addition);
        let Some((is_sole, gradient, addition)) = self.memory.borrow().found.get(&wanted.id()).map(found)
        else {
            return Err(self.no_dependence(format!("the array of shape {:?}", wanted.shape())));
        };
        if is_sole && !gradient.state().saves().is_of_tape() {
            return Ok(gradient.into_array(wanted.shape()));
        }
        // Others have it too, and the caller may change it.
        Ok(self.copy(&gradient, addition)?.into_array(wanted.shape()))
    }

    /// A copy: the sum along an axis of one element.
    pub(super) fn copy(&self, gradient: &Shared, addition: AdditionOf) -> Result<Shared> {
        let addition = self.addition(addition, gradient.element())?;
        let copied = Linear { codelet: (addition.sum_axis)(), gradient: (addition.sum_axis_gradient)() };
        let layout = contiguous(&[1, gradient.len()]);
        let mut axis = [0; size_of::<usize>()];
        crate::argument::Argument::encode(0_usize, &mut axis);
        self.apply(gradient, &layout, &layout, copied, &axis, self.location)
    }

    /// Whether a gradient by this array was found.
    pub fn require_found<T: Element, const N: usize>(&self, wanted: &Array<'_, T, N>) -> Result<()> {
        if self.memory.borrow().found.contains_key(&wanted.id()) {
            return Ok(());
        }
        Err(self.no_dependence(format!("the array of shape {:?}", wanted.shape())))
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
        let memory = self.memory.borrow();
        let Some(Found { gradient, addition }) = memory.found.get(&wanted.id()) else {
            return Err(self.no_dependence(format!("the array of shape {:?}", wanted.shape())));
        };
        // The sum along an axis of one element.
        let from = contiguous(&[1, wanted.len()]);
        let codelet = (self.addition(*addition, gradient.element())?.sum_axis)();
        let mut task = Task::of_call(codelet, None, self.location);
        task.push_shared(gradient, AccessMode::R, &from);
        let mode = codelet.parameters[1].mode;
        let to = if sum.layout().is_contiguous() {
            let mut layout = from;
            layout.offset = sum.layout().offset;
            layout
        } else {
            let fact = "the sum is a part whose elements are not contiguous".to_owned();
            return Err(Error::at(ErrorKind::InvalidShape { subject: "accumulate", fact }, self.location));
        };
        task.push_state(sum.state().engine(), sum.state(), mode, &to);
        let mut axis = [0; size_of::<usize>()];
        crate::argument::Argument::encode(0_usize, &mut axis);
        task.push_arguments(&axis);
        task.submit()
    }

    pub(super) fn addition(&self, of: AdditionOf, element: ElementType) -> Result<&'static Addition> {
        of(element).ok_or_else(|| {
            let fact = format!("gradients of elements {} cannot be added", element.name);
            Error::at(ErrorKind::InvalidShape { subject: "gradients", fact }, self.location)
        })
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
