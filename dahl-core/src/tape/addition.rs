//! How a reverse pass adds gradients, and what else it does by sums.
//!
//! Contributions to one gradient are added by a map. Everything else is the sum along an axis: over what an input was
//! stretched along, and with an axis of one element also a copy, or a contribution to an array of the caller's.

use std::panic::Location;

use super::gradient::{Addition, AdditionOf, Linear};
use super::pass::{Pass, contiguous};
use super::record::{Operand, Record};
use crate::access::AccessMode;
use crate::array::{Array, Shared};
use crate::codelet::Codelet;
use crate::description::Over;
use crate::element::{Element, ElementType};
use crate::error::{Error, ErrorKind, Result};
use crate::shape::{Layout, MAX_RANK};
use crate::submission::Task;

impl Addition {
    fn along_axis(&self) -> Linear {
        Linear { codelet: (self.sum_axis)(), gradient: (self.sum_axis_gradient)() }
    }
}

/// The axis of a sum, as the task's argument.
fn encoded(axis: usize) -> [u8; size_of::<usize>()] {
    let mut bytes = [0; size_of::<usize>()];
    crate::argument::Argument::encode(axis, &mut bytes);
    bytes
}

/// The axis along which `len` elements are summed one by one, and their layout with it.
fn one_by_one(len: usize) -> (usize, Layout) {
    (0, contiguous(&[1, len]))
}

impl Pass<'_> {
    /// `x + y`, in the place of `x` if nobody else uses it.
    pub(super) fn sum(
        &self,
        x: Shared,
        y: Shared,
        addition: AdditionOf,
        location: &'static Location<'static>,
    ) -> Result<Shared> {
        let addition = self.addition(addition, x.element())?;
        let layout = contiguous(&[x.len()]);
        let codelet: &'static Codelet = (addition.add)();
        if self.outer().is_none() && x.is_sole() && x.state().id() != y.state().id() {
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

    /// The gradient by the operand `to` from one of the shape of the operand `from`: the sum over the axes along which it
    /// was stretched.
    pub(super) fn unstretched(
        &self,
        record: &Record,
        (from, to): (&Operand, &Operand),
        mut gradient: Shared,
        location: &'static Location<'static>,
    ) -> Result<Shared> {
        let (from, extents, addition) =
            (record.layout(from), record.layout(to).extents(), record.array(to).addition);
        let mut before = contiguous(from.extents());
        for (axis, &extent) in extents.iter().enumerate() {
            if before.extents()[axis] == extent {
                continue;
            }
            let mut after = [0; MAX_RANK];
            let after = &mut after[..extents.len()];
            after.copy_from_slice(before.extents());
            after[axis] = extent;
            let after = contiguous(after);
            let sum = self.sum_along(axis, &gradient, (&before, &after), addition, location)?;
            self.give_back(std::mem::replace(&mut gradient, sum));
            before = after;
        }
        Ok(gradient)
    }

    /// A copy.
    pub(super) fn copy(&self, gradient: &Shared, addition: AdditionOf) -> Result<Shared> {
        let (axis, layout) = one_by_one(gradient.len());
        self.sum_along(axis, gradient, (&layout, &layout), addition, self.location())
    }

    /// The sum along an axis, in another array.
    fn sum_along(
        &self,
        axis: usize,
        gradient: &Shared,
        (from, to): (&Layout, &Layout),
        addition: AdditionOf,
        location: &'static Location<'static>,
    ) -> Result<Shared> {
        let addition = self.addition(addition, gradient.element())?;
        self.apply(gradient, (from, to), addition.along_axis(), &encoded(axis), location)
    }

    /// Adds a gradient to `sum`, as a contribution to a reduction.
    pub(super) fn contribute<T: Element, const N: usize>(
        &self,
        gradient: &Shared,
        addition: AdditionOf,
        sum: &mut Array<'_, T, N>,
    ) -> Result<()> {
        if !sum.layout().is_contiguous() {
            let fact = "the sum is a part whose elements are not contiguous".to_owned();
            return Err(Error::at(ErrorKind::InvalidShape { subject: "accumulate", fact }, self.location()));
        }
        let (axis, from) = one_by_one(gradient.len());
        let mut to = from;
        to.offset = sum.layout().offset;
        let Linear { codelet, .. } = self.addition(addition, gradient.element())?.along_axis();
        let mut task = Task::of_call(codelet, None, self.location());
        task.push_shared(gradient, AccessMode::R, &from);
        task.push_state(sum.state().engine(), sum.state(), codelet.parameters[1].mode, &to);
        task.push_arguments(&encoded(axis));
        task.submit()
    }

    fn addition(&self, of: AdditionOf, element: &ElementType) -> Result<&'static Addition> {
        of(*element).ok_or_else(|| {
            let fact = format!("gradients of elements {} cannot be added", element.name);
            Error::at(ErrorKind::InvalidShape { subject: "gradients", fact }, self.location())
        })
    }
}
