//! [`permute`]: the axes of an array in another order.

use std::fmt;

use dahl::ndarray::{ArrayViewD, ArrayViewMutD};
use dahl::prelude::*;
use dahl::{Result, Scope};

use crate::cpu::axes;
use crate::cpu::row_major::{elements, row_major, row_major_strides, write};

/// The most axes of an array.
const MAX_RANK: usize = 8;

/// An order of axes: axis `i` of the result is axis number `i` of the order.
#[derive(Clone, Copy, PartialEq, Eq, Argument)]
#[repr(C)]
pub struct AxisOrder {
    /// Behind the last axis: `MAX_RANK`.
    axes: [usize; MAX_RANK],
    rank: usize,
}

impl AxisOrder {
    /// This order.
    ///
    /// # Panics
    /// If there are more than eight axes, which no array has.
    pub const fn new<const A: usize>(order: [usize; A]) -> Self {
        assert!(A <= MAX_RANK, "an array has at most eight axes");
        let (mut axes, mut axis) = ([MAX_RANK; MAX_RANK], 0);
        while axis < A {
            axes[axis] = order[axis];
            axis += 1;
        }
        Self { axes, rank: A }
    }

    /// The axes, in order.
    pub(crate) fn axes(&self) -> &[usize] {
        &self.axes[..self.rank.min(MAX_RANK)]
    }

    /// Whether it has each of so many axes once.
    fn has_each_of(&self, rank: usize) -> bool {
        self.rank == rank && (0..rank).all(|axis| self.axes().contains(&axis))
    }

    /// `numbers` in this order; 0 for axes that are not there.
    fn of<const N: usize>(&self, numbers: [usize; N]) -> [usize; N] {
        std::array::from_fn(|axis| numbers.get(self.axes[axis]).copied().unwrap_or(0))
    }

    /// For each axis of the result, the distance of its elements in an array of `shape`.
    fn strides_in(&self, shape: &[usize]) -> Vec<usize> {
        let strides = row_major_strides(shape);
        self.axes().iter().map(|&axis| strides[axis]).collect()
    }

    fn inverse(&self) -> Self {
        let mut inverse = *self;
        for (axis, &from) in self.axes().iter().enumerate() {
            inverse.axes[from] = axis;
        }
        inverse
    }
}

impl fmt::Debug for AxisOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.axes().fmt(f)
    }
}

/// The codelet, whose order of axes has the same type for any rank.
mod declared {
    use super::*;

    /// Axis `i` of `out` is axis `axes[i]` of `input`, as in PyTorch's `permute`, but the elements are moved.
    ///
    /// # Shapes
    /// `axes` has each axis of `input` once; `out: [extent of axes[0], extent of axes[1], ..]`.
    #[codelet(
        R, W,
        cuda = crate::kernels::PERMUTE,
        shape(out = axes.of(input.shape())),
        check(axes.has_each_of(input.shape().len())),
        moves = (axes.strides_in(input.shape()), 0),
        gradient = permute_gradient(),
        reference = crate::reference::moved::permute,
        error = rounded
    )]
    pub fn permute<T: Element>(input: ArrayViewD<T>, out: ArrayViewMutD<T>, axes: AxisOrder) {
        let from = row_major(&input);
        write(out, |out| axes::permute(elements(&from), input.shape(), axes.axes(), out));
    }

    fn permute_gradient<T: Real, const N: usize>(rule: PermuteGradient<'_, T, N>) -> Result<()> {
        let Some(by_input) = rule.by_input else { return Ok(()) };
        *by_input = permute_init(rule.scope, rule.gradient, rule.axes.inverse())?;
        Ok(())
    }
}

pub use declared::Permute;

/// Axis `i` of `out` is axis `axes[i]` of `input`, as in PyTorch's `permute`, but the elements are moved.
///
/// # Shapes
/// `axes` has each axis of `input` once; `out: [extent of axes[0], extent of axes[1], ..]`.
///
/// # Errors
/// If the axes are not those of `input`, or the shapes do not agree.
#[track_caller]
pub fn permute<T: Element, const N: usize, const A: usize>(
    input: &Array<'_, T, N>,
    out: &mut Array<'_, T, N>,
    axes: [usize; A],
) -> Result<()> {
    declared::permute(input, out, AxisOrder::new(axes))
}

/// [`permute`] over `array`, of which the permuted shape must be the shape.
///
/// # Errors
/// As for [`permute`].
#[track_caller]
pub fn permute_self<T: Element, const N: usize, const A: usize>(
    array: &mut Array<'_, T, N>,
    axes: [usize; A],
) -> Result<()> {
    declared::permute_self(array, AxisOrder::new(axes))
}

/// [`permute`] into a new array of `scope`.
///
/// # Errors
/// As for [`permute`], or if memory cannot be allocated.
#[track_caller]
pub fn permute_init<'m, T: Element, const N: usize, const A: usize>(
    scope: &'m impl Scope<Permute>,
    input: &Array<'_, T, N>,
    axes: [usize; A],
) -> Result<Array<'m, T, N>> {
    declared::permute_init(scope, input, AxisOrder::new(axes))
}
