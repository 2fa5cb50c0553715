//! [`sum_axes`]: sums along several axes at once, which are rounded once.

use std::fmt;

use dahl::ndarray::{ArrayViewD, ArrayViewMutD};
use dahl::prelude::*;
use dahl::{Result, Scope};

use crate::cpu::row_major::{add_sums_along, elements, row_major, write};

/// Some axes of an array.
#[derive(Clone, Copy, PartialEq, Eq, Argument)]
#[repr(C)]
pub struct Axes {
    /// A bit for each axis, the lowest for the first.
    bits: u64,
}

impl Axes {
    /// These axes, in any order.
    pub const fn new<const A: usize>(axes: [usize; A]) -> Self {
        let (mut bits, mut at) = (0, 0);
        while at < A {
            // The last bit stands for any axis that no array has.
            bits |= 1_u64 << if axes[at] < 63 { axes[at] } else { 63 };
            at += 1;
        }
        Self { bits }
    }

    /// Whether this axis is one of them.
    pub(crate) fn contains(self, axis: usize) -> bool {
        self.bits >> axis & 1 == 1
    }

    /// Whether an array of this rank has them.
    fn are_below(self, rank: usize) -> bool {
        self.bits >> rank == 0
    }

    /// `shape` with extent 1 at these axes.
    fn reduced<const N: usize>(self, shape: [usize; N]) -> [usize; N] {
        std::array::from_fn(|axis| if self.contains(axis) { 1 } else { shape[axis] })
    }
}

impl fmt::Debug for Axes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries((0..64).filter(|&axis| self.contains(axis))).finish()
    }
}

/// The codelet, whose axes have the same type for any number of them.
mod declared {
    use super::*;

    /// Adds to each element of `out` the sum of the elements of `input` that differ from it in their places along `axes` alone.
    ///
    /// # Shapes
    /// `out` as `input`, with extent 1 at each of `axes`.
    #[codelet(
        R, REDUX,
        shape(out = axes.reduced(input.shape())),
        check(axes.are_below(input.shape().len())),
        flops = input.len(),
        cuda = crate::kernels::SUM_AXES,
        gradient = adjoint(sum_axes_backward),
        reference = crate::reference::sum_axes::sum_axes,
        error = sum(n = input.len() / out.len().max(1) + 1)
    )]
    pub fn sum_axes<T: Real>(input: ArrayViewD<T>, out: ArrayViewMutD<T::Compute>, axes: Axes) {
        let values = row_major(&input);
        write(out, |out| {
            add_sums_along(elements(&values), input.shape(), |axis| axes.contains(axis), out);
        });
    }

    /// The gradient of [`sum_axes`] by its input: `out = gradient`, broadcast along `axes`.
    ///
    /// # Shapes
    /// `out` as the input of [`sum_axes`], `gradient` as its output.
    #[codelet(
        R, W,
        check(axes.are_below(out.shape().len())),
        check(gradient.shape() == axes.reduced(out.shape())),
        cuda = crate::kernels::SUM_AXES_BACKWARD,
        gradient = adjoint(sum_axes),
        reference = crate::reference::sum_axes::sum_axes_backward,
        error = rounded
    )]
    pub fn sum_axes_backward<T: Real>(gradient: ArrayViewD<T>, mut out: ArrayViewMutD<T>, axes: Axes) {
        debug_assert!((0..out.ndim()).all(|axis| gradient.shape()[axis] == 1 || !axes.contains(axis)));
        // It stretches extents of 1.
        out.assign(&gradient);
    }
}

pub use declared::{SumAxes, SumAxesBackward};

/// Adds to each element of `out` the sum of the elements of `input` that differ from it in their places along `axes` alone:
/// PyTorch's `sum(dim=axes, keepdim=True)`. The sum is rounded once.
///
/// # Shapes
/// `out` as `input`, with extent 1 at each of `axes`.
///
/// # Errors
/// If `input` has no such axes, or the shapes do not agree.
#[track_caller]
pub fn sum_axes<T: Real, const N: usize, const A: usize>(
    input: &Array<'_, T, N>,
    out: &mut Array<'_, T, N>,
    axes: [usize; A],
) -> Result<()> {
    declared::sum_axes(input, out, Axes::new(axes))
}

/// [`sum_axes`] into a new array of `scope`, from zeros.
///
/// ```
/// use dahl::ops::sum_axes_init;
/// use dahl::prelude::*;
///
/// # fn main() -> dahl::Result<()> {
/// let rt = Runtime::new()?;
/// let arena = rt.arena();
/// let x = arena.from_slice([2, 2, 2], &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])?;
/// let sums = sum_axes_init(&arena, &x, [0, 2])?;
/// assert_eq!((sums.shape(), sums.to_vec()?), ([1, 2, 1], vec![14.0, 22.0]));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// As for [`sum_axes`], or if memory cannot be allocated.
#[track_caller]
pub fn sum_axes_init<'m, T: Real, const N: usize, const A: usize>(
    scope: &'m impl Scope<SumAxes>,
    input: &Array<'_, T, N>,
    axes: [usize; A],
) -> Result<Array<'m, T, N>> {
    declared::sum_axes_init(scope, input, Axes::new(axes))
}

/// The gradient of [`sum_axes`] by its input: `out = gradient`, broadcast along `axes`.
///
/// # Shapes
/// `out` as the input of [`sum_axes`], `gradient` as its output.
///
/// # Errors
/// If `out` has no such axes, or the shapes do not agree.
#[track_caller]
pub fn sum_axes_backward<T: Real, const N: usize, const A: usize>(
    gradient: &Array<'_, T, N>,
    out: &mut Array<'_, T, N>,
    axes: [usize; A],
) -> Result<()> {
    declared::sum_axes_backward(gradient, out, Axes::new(axes))
}
