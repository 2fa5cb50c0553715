//! The index of an extreme along an axis: [`arg_max`], [`arg_min`].

use dahl::ndarray::{ArrayViewD, ArrayViewMutD};
use dahl::prelude::*;
use dahl::simd;

use super::reduce::reduced;
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
    first_of(values, simd::max(values))
}

/// The index of the first smallest value, or of the first NaN; 0 if there are none.
#[inline(always)]
pub(crate) fn first_minimum<T: Element>(values: &[T]) -> usize {
    first_of(values, simd::min(values))
}

/// Values per block. The loop over a block has no early exit, so that it is vectorised.
const BLOCK: usize = 64;

/// The index of the first of `values` that equals `extreme`, which may be NaN.
#[inline(always)]
fn first_of<T: Element>(values: &[T], extreme: T) -> usize {
    #[allow(clippy::eq_op, reason = "NaN is what differs from itself")]
    let is_it = |value: T| value == extreme || (value != value && extreme != extreme);
    for (number, block) in values.chunks(BLOCK).enumerate() {
        if block.iter().fold(false, |any, value| any | is_it(*value)) {
            let index = block.iter().position(|value| is_it(*value)).unwrap_or(0);
            return number * BLOCK + index;
        }
    }
    0
}
