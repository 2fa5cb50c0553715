//! [`Parameter`]: an array that a module learns.

use dahl::prelude::*;

use super::{Member, MemberMut, Module, Visit, VisitMut};

/// An array that a module learns, and the gradient of the loss by it, flat: the elements of `shape` in row-major order.
#[derive(Debug)]
pub struct Parameter<'m, T: Real> {
    /// The shape, as PyTorch's.
    pub shape: Vec<usize>,
    /// The value.
    pub value: Vector<'m, T>,
    /// The gradient of the loss by the value, summed over the batch.
    pub gradient: Vector<'m, T>,
    /// Whether it is excluded from learning: it gets no gradient, and optimizers leave it as it is.
    pub frozen: bool,
}

impl<'m, T: Real> Parameter<'m, T> {
    /// A parameter with this value and shape. The gradient is zero.
    ///
    /// # Errors
    /// If the value has another number of elements than the shape, or memory cannot be allocated.
    #[track_caller]
    pub fn new(arena: &'m Arena, shape: &[usize], value: Vector<'m, T>) -> dahl::Result<Self> {
        if element_count(shape)? != value.len() {
            let fact = format!("the shape {shape:?} does not have {} elements", value.len());
            return Err(dahl::Error::invalid_shape("Parameter", fact));
        }
        let gradient = arena.zeros(value.shape())?;
        Ok(Self { shape: shape.to_vec(), value, gradient, frozen: false })
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.value.len()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.value.is_empty()
    }
}

/// The number of elements of an array of `shape`.
///
/// # Errors
/// If it cannot be counted.
#[track_caller]
pub(super) fn element_count(shape: &[usize]) -> dahl::Result<usize> {
    let count = shape.iter().try_fold(1_usize, |len, &extent| len.checked_mul(extent));
    // No closure: the error has the caller's line.
    match count {
        Some(count) => Ok(count),
        None => {
            let fact = format!("the shape {shape:?} has more elements than there are addresses");
            Err(dahl::Error::invalid_shape("Parameter", fact))
        }
    }
}

impl<T: Real> Module<T> for Parameter<'_, T> {
    fn visit<'a>(&'a self, visit: &mut Visit<'_, 'a, T>) {
        visit.member(Member::Parameter(self));
    }

    fn visit_mut(&mut self, visit: &mut VisitMut<'_, T>) {
        visit.member(MemberMut::Parameter(self));
    }
}
