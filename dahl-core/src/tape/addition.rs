//! How a reverse pass adds gradients, and what else it does by sums.
//!
//! Contributions to one gradient are added by a map. Everything else is the sum along an axis, or several: over what an input
//! was stretched along, and with an axis of one element also a copy, or a contribution to an array of the caller's.

use std::panic::Location;

use super::gradient::{Addition, AdditionOf, Linear};
use super::pass::{Pass, contiguous};
use super::record::{Operand, Record};
use crate::access::AccessMode;
use crate::argument::Argument;
use crate::array::{Array, Shared};
use crate::codelet::Codelet;
use crate::description::Over;
use crate::element::{Element, ElementType};
use crate::error::{Error, ErrorKind, Result};
use crate::shape::Layout;
use crate::submission::Task;

impl Addition {
    fn along_axis(&self) -> Linear {
        Linear { codelet: (self.sum_axis)(), gradient: (self.sum_axis_gradient)() }
    }

    fn along_axes(&self) -> Linear {
        Linear { codelet: (self.sum_axes)(), gradient: (self.sum_axes_gradient)() }
    }
}

/// The axis of a sum, or the bits of several, as the task's argument.
fn encoded<A: Argument>(axes: A) -> [u8; 8] {
    const { assert!(A::SIZE_BYTES == 8, "an axis is a `usize`, and several are a `u64`") };
    let mut bytes = [0; 8];
    axes.encode(&mut bytes);
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
    /// was stretched, which is rounded once.
    pub(super) fn unstretched(
        &self,
        record: &Record,
        (from, to): (&Operand, &Operand),
        gradient: Shared,
        location: &'static Location<'static>,
    ) -> Result<Shared> {
        let addition = record.array(to).addition;
        let [from, to] = [from, to].map(|operand| contiguous(record.layout(operand).extents()));
        let stretched = |axis: &usize| from.extents()[*axis] != to.extents()[*axis];
        let bits = (0..to.extents().len()).filter(stretched).fold(0_u64, |bits, axis| bits | 1 << axis);
        let layouts = (&from, &to);
        let sum = match (bits.count_ones(), bits.trailing_zeros()) {
            (0, _) => return Ok(gradient),
            // Programs join it with the map before.
            (1, axis) => self.sum_along(axis as usize, &gradient, layouts, addition, location)?,
            _ => {
                let addition = self.addition(addition, gradient.element())?;
                self.apply(&gradient, layouts, addition.along_axes(), &encoded(bits), location)?
            }
        };
        self.give_back(gradient);
        Ok(sum)
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
