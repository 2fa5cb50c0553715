//! The index of an extreme along an axis: [`arg_max`], [`arg_min`].

use dahl::ndarray::{ArrayViewD, ArrayViewMutD};
use dahl::prelude::*;
use dahl::simd;

use super::reduce::reduced;
use crate::cpu::position::position;
use crate::cpu::row_major::{around, elements, fold_lanes, row_major, write};

/// `out = ` the index along `axis` of the largest element: the first of equal ones, and of NaN, which counts as larger
/// than everything, as in PyTorch.
///
/// # Shapes
/// `out` as `input`, with extent 1 at `axis`, whose extent in `input` is at least 1.
#[codelet(
    R, W,
    shape(out = reduced(input.shape(), axis)),
    check(input.shape().get(axis).is_some_and(|extent| *extent > 0)),
    flops = input.len(),
    cuda = crate::kernels::ARG_MAX,
    gradient = none,
    reference = crate::reference::arg_extreme::arg_max,
    error = rounded
)]
pub fn arg_max<T: Element>(input: ArrayViewD<T>, out: ArrayViewMutD<u32>, axis: usize) {
    let extents = around(input.shape(), axis);
    let input = row_major(&input);
    write(out, |out| fold_lanes(elements(&input), extents, out, |lane| first_maximum(lane) as u32));
}

/// `out = ` the index along `axis` of the smallest element: the first of equal ones, and of NaN, which counts as smaller
/// than everything, as in PyTorch.
///
/// # Shapes
/// `out` as `input`, with extent 1 at `axis`, whose extent in `input` is at least 1.
#[codelet(
    R, W,
    shape(out = reduced(input.shape(), axis)),
    check(input.shape().get(axis).is_some_and(|extent| *extent > 0)),
    flops = input.len(),
    cuda = crate::kernels::ARG_MIN,
    gradient = none,
    reference = crate::reference::arg_extreme::arg_min,
    error = rounded
)]
pub fn arg_min<T: Element>(input: ArrayViewD<T>, out: ArrayViewMutD<u32>, axis: usize) {
    let extents = around(input.shape(), axis);
    let input = row_major(&input);
    write(out, |out| fold_lanes(elements(&input), extents, out, |lane| first_minimum(lane) as u32));
}

/// The index of the first largest value, or of the first NaN; 0 if there are none.
#[inline(always)]
pub(crate) fn first_maximum<T: Element>(values: &[T]) -> usize {
    position(values, simd::max(values)).unwrap_or(0)
}

/// The index of the first smallest value, or of the first NaN; 0 if there are none.
#[inline(always)]
pub(crate) fn first_minimum<T: Element>(values: &[T]) -> usize {
    position(values, simd::min(values)).unwrap_or(0)
}
