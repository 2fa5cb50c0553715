//! [`slice`]: a range of indices along an axis, as an array of its own.
//!
//! To work on a range without a copy, take a part ([`Array::partition_by`]).

use dahl::ndarray::{ArrayViewD, ArrayViewMutD, Axis, Slice as Range};
use dahl::prelude::*;

use crate::cpu::row_major::row_major_strides;

/// `shape` with extent `len` at `axis`.
pub(super) fn with_extent<const N: usize>(mut shape: [usize; N], axis: usize, len: usize) -> [usize; N] {
    if let Some(extent) = shape.get_mut(axis) {
        *extent = len;
    }
    shape
}

/// Whether the range lies within the extent of `axis`.
fn holds<const N: usize>(shape: [usize; N], axis: usize, start: usize, len: usize) -> bool {
    shape.get(axis).is_some_and(|&extent| start <= extent && len <= extent - start)
}

/// `out = ` the elements of `input` at the indices `start .. start + len` of `axis`.
///
/// # Shapes
/// `out` as `input`, with extent `len` at `axis`.
#[codelet(
    R, W,
    shape(out = with_extent(input.shape(), axis, len)),
    check(holds(input.shape(), axis, start, len)),
    moves = (row_major_strides(input.shape()), start * row_major_strides(input.shape())[axis]),
    cuda = crate::kernels::SLICE,
    gradient = slice_gradient(),
    reference = crate::reference::moved::slice,
    error = rounded
)]
pub fn slice<T: Element>(
    input: ArrayViewD<T>,
    mut out: ArrayViewMutD<T>,
    axis: usize,
    start: usize,
    len: usize,
) {
    out.assign(&input.slice_axis(Axis(axis), Range::from(start..start + len)));
}

fn slice_gradient<T: Real, const N: usize>(rule: SliceGradient<'_, T, N>) -> dahl::Result<()> {
    let Some(by_input) = rule.by_input else { return Ok(()) };
    SliceBackward::under(rule.scope, rule.gradient, by_input, rule.axis, rule.start)
}

/// The gradient of [`slice`] by its input: `gradient` at the indices from `start` on along `axis`, 0 elsewhere. The
/// caller must give the shape of `out`.
///
/// # Shapes
/// `gradient` as the output of [`slice`], `out` as its input.
#[codelet(
    R, W,
    check(holds(out.shape(), axis, start, gradient.shape().get(axis).copied().unwrap_or(0))),
    check(gradient.shape() == with_extent(out.shape(), axis, gradient.shape().get(axis).copied().unwrap_or(0))),
    cuda = crate::kernels::SLICE_BACKWARD,
    gradient = slice_backward_gradient(),
    reference = crate::reference::moved::slice_backward,
    error = rounded
)]
pub fn slice_backward<T: Element>(
    gradient: ArrayViewD<T>,
    mut out: ArrayViewMutD<T>,
    axis: usize,
    start: usize,
) {
    out.fill(T::ZERO);
    let len = gradient.shape()[axis];
    out.slice_axis_mut(Axis(axis), Range::from(start..start + len)).assign(&gradient);
}

fn slice_backward_gradient<T: Real, const N: usize>(
    rule: SliceBackwardGradient<'_, T, N>,
) -> dahl::Result<()> {
    let Some(by_gradient) = rule.by_gradient else { return Ok(()) };
    let len = by_gradient.shape()[rule.axis];
    *by_gradient = slice_init(rule.scope, rule.gradient_out, rule.axis, rule.start, len)?;
    Ok(())
}
