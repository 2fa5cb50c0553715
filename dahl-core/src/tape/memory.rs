//! [`Memory`]: what a reverse pass knows of the arrays of a record, by their numbers.

use std::cell::{Cell, RefCell};

use super::gradient::{AdditionOf, has};
use super::ids::ById;
use super::record::{Node, Record};
use super::rule::Lent;
use crate::array::Shared;
use crate::array_id::ArrayId;
use crate::element::ElementType;
use crate::error::{Error, ErrorKind, Result};

/// What a pass needs; the tape keeps it for the next one.
#[derive(Default)]
pub(super) struct Memory {
    wanted: ById<Wanted>,
    /// The arrays that gradients by wanted arrays are added to, if rules may contribute to them.
    sums: ById<Sum>,
    /// The wanted arrays that the loss does not depend on, if there are sums: nothing is added to these then.
    pub(super) unreached: Vec<ArrayId>,
    /// Of each array: whether the loss depends on it.
    reached: Vec<bool>,
    /// The gradients by wanted arrays, when the pass has ended.
    pub(super) results: ById<Gradient>,
    /// Of each array: whether its gradient is computed, since it is wanted or depends on what is wanted.
    active: Vec<bool>,
    is_wanted: Vec<bool>,
    /// Whether each task has an active input.
    runs: Vec<bool>,
    /// The gradient by each array, as far as it is known.
    pub(super) found: RefCell<Vec<Option<Shared>>>,
    /// Arrays that are not needed any more.
    free: RefCell<Vec<Shared>>,
    /// Arrays that were lent to rules, which have not written them: without a value.
    unwritten: RefCell<Vec<Shared>>,
    /// Empty vectors for the call of a rule.
    pub(super) gradients: Cell<Vec<(usize, Shared)>>,
    pub(super) lent: Cell<Vec<Lent>>,
}

/// A wanted array.
#[derive(Debug)]
struct Wanted {
    array: Shared,
    /// The writes before the value that the tasks have read.
    writes: Option<u64>,
}

/// An array of the caller's that a gradient is added to.
#[derive(Debug)]
struct Sum {
    array: Shared,
    /// Whether a rule has contributed to it.
    has_contributions: Cell<bool>,
}

/// The gradient by a wanted array.
#[derive(Debug)]
pub(super) struct Gradient {
    pub(super) array: Shared,
    /// How others are added to it.
    pub(super) addition: AdditionOf,
}

impl Memory {
    /// Asks for the gradient by an array.
    pub(super) fn want(&mut self, array: Shared) {
        self.wanted.entry(array.state().id()).or_insert(Wanted { array, writes: None });
    }

    /// Gradients by the array are added to `sum`.
    pub(super) fn want_sum(&mut self, id: ArrayId, sum: Shared) {
        self.sums.insert(id, Sum { array: sum, has_contributions: Cell::new(false) });
    }

    /// Removes the sum of an array. Returns whether the array was not wanted yet.
    pub(super) fn forget_sum(&mut self, id: ArrayId) -> bool {
        self.sums.remove(&id);
        !self.wanted.contains_key(&id)
    }

    /// The array that gradients by this one are added to.
    pub(super) fn sum_of(&self, id: ArrayId) -> Option<Shared> {
        Some(self.sums.get(&id)?.array.share())
    }

    pub(super) fn note_contribution(&self, id: ArrayId) {
        if let Some(sum) = self.sums.get(&id) {
            sum.has_contributions.set(true);
        }
    }

    /// Whether a rule has contributed to the array that gradients by this one are added to.
    pub(super) fn has_contributions(&self, id: ArrayId) -> bool {
        self.sums.get(&id).is_some_and(|sum| sum.has_contributions.get())
    }

    /// Whether the loss depends on all wanted arrays, as far as the tasks between them say. Looked at if there are sums, which
    /// must not change otherwise.
    pub(super) fn may_add(&mut self, record: &Record, loss: usize) -> bool {
        if self.sums.is_empty() {
            return true;
        }
        let reached = &mut self.reached;
        reached.clear();
        reached.resize(record.arrays().len(), false);
        reached[loss] = true;
        for (index, node) in record.nodes().iter().enumerate().rev() {
            if self.runs[index] && record.outputs(node).any(|output| reached[output]) {
                record.inputs(node).for_each(|input| reached[input] = true);
            }
        }
        let is_reached = |id: &&ArrayId| record.number_of(**id).is_some_and(|number| reached[number]);
        self.unreached.extend(self.wanted.keys().filter(|id| !is_reached(id)));
        self.unreached.is_empty()
    }

    /// The number of wanted arrays.
    pub(super) fn wanted(&self) -> usize {
        self.wanted.len()
    }

    /// Finds the arrays of the record whose gradients are computed, and the tasks that have one as an input.
    ///
    /// # Errors
    /// If two of the tasks have read different values of a wanted array.
    pub(super) fn activate(&mut self, record: &Record) -> Result<()> {
        let len = record.arrays().len();
        self.is_wanted.clear();
        self.is_wanted.resize(len, false);
        for number in self.wanted.keys().filter_map(|id| record.number_of(*id)) {
            self.is_wanted[number] = true;
        }
        self.active.clone_from(&self.is_wanted);
        self.runs.clear();
        for (number, node) in record.nodes().iter().enumerate() {
            let (mut runs, mut reads_wanted) = (false, false);
            for input in record.inputs(node) {
                runs |= self.active[input];
                reads_wanted |= self.is_wanted[input];
            }
            runs &= record.ran(number);
            if runs {
                record.outputs(node).for_each(|output| self.active[output] = true);
                if reads_wanted {
                    self.require_one_value(record, node)?;
                }
            }
            self.runs.push(runs);
        }
        self.found.get_mut().resize_with(len, || None);
        Ok(())
    }

    /// Requires that a task has read the same values of wanted arrays as those before it.
    fn require_one_value(&mut self, record: &Record, node: &Node) -> Result<()> {
        for (index, operand) in record.operands(node).iter().enumerate() {
            let array = operand.number().filter(|_| has(node.gradient.inputs, index));
            let id = array.map(|array| record.arrays()[array].id);
            let Some(wanted) = id.and_then(|id| self.wanted.get_mut(&id)) else { continue };
            if *wanted.writes.get_or_insert(operand.writes) != operand.writes {
                let written_at = wanted.array.state().saves().written_at();
                let written_at = written_at.expect("a write that is counted has noted its line");
                let (codelet, parameter) = (node.codelet.name, node.name_of(index));
                let kind = ErrorKind::Overwritten { codelet, parameter, written_at };
                return Err(Error::at(kind, node.location));
            }
        }
        Ok(())
    }

    /// Whether the gradient by an array is computed.
    pub(super) fn is_active(&self, array: usize) -> bool {
        self.active[array]
    }

    pub(super) fn is_wanted(&self, array: usize) -> bool {
        self.is_wanted[array]
    }

    /// Whether a task has an active input.
    pub(super) fn runs(&self, node: usize) -> bool {
        self.runs[node]
    }

    /// Moves the gradients by wanted arrays to the results.
    pub(super) fn finish(&mut self, record: &Record) {
        let found = self.found.get_mut();
        for &id in self.wanted.keys() {
            if let Some(number) = record.number_of(id)
                && let Some(array) = found[number].take()
            {
                let addition = record.arrays()[number].addition;
                self.results.insert(id, Gradient { array, addition });
            }
        }
    }

    /// An array that is not needed any more, of `len` elements of a type.
    pub(super) fn take_free(&self, element: &ElementType, len: usize) -> Option<Shared> {
        take(&self.free, element, len).or_else(|| take(&self.unwritten, element, len))
    }

    /// The same, of those that were lent to rules, which have not written them.
    pub(super) fn take_unwritten(&self, element: &ElementType, len: usize) -> Option<Shared> {
        take(&self.unwritten, element, len)
    }

    /// Keeps an array that was lent to a rule, which has not written it.
    pub(super) fn give_back_unwritten(&self, array: Shared) {
        self.unwritten.borrow_mut().push(array);
    }

    /// Keeps an array that is not needed any more.
    pub(super) fn give_back(&self, array: Shared) {
        self.free.borrow_mut().push(array);
    }

    /// For another pass.
    pub(super) fn clear(&mut self) {
        self.wanted.clear();
        self.sums.clear();
        self.unreached.clear();
        self.results.clear();
        self.found.get_mut().clear();
        self.free.get_mut().clear();
        self.unwritten.get_mut().clear();
    }
}

/// The last array of `len` elements of a type.
fn take(arrays: &RefCell<Vec<Shared>>, element: &ElementType, len: usize) -> Option<Shared> {
    let mut arrays = arrays.borrow_mut();
    let bytes = len * element.size_bytes;
    let fits = |array: &Shared| array.state().bytes() == bytes && array.element() == element;
    let place = arrays.iter().rposition(fits)?;
    Some(arrays.swap_remove(place))
}
