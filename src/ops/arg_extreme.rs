//! Where along an axis the extremes are: [`arg_max`], [`arg_min`].

use dahl::ndarray::{ArrayViewD, ArrayViewMutD};
use dahl::prelude::*;

use super::reduce::reduced;
use crate::cpu::row_major::{around, elements, fold_lanes, write};

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
    reference = crate::reference::arg_extreme::arg_max,
    error = rounded
)]
pub fn arg_max<T: Element>(input: ArrayViewD<T>, out: ArrayViewMutD<u32>, axis: usize) {
    let extents = around(input.shape(), axis);
    let input = input.as_standard_layout();
    write(out, |out| fold_lanes(elements(&input), extents, out, |lane| first_maximum(lane.iter().copied())));
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
    reference = crate::reference::arg_extreme::arg_min,
    error = rounded
)]
pub fn arg_min<T: Element>(input: ArrayViewD<T>, out: ArrayViewMutD<u32>, axis: usize) {
    let extents = around(input.shape(), axis);
    let input = input.as_standard_layout();
    write(out, |out| fold_lanes(elements(&input), extents, out, |lane| first_minimum(lane.iter().copied())));
}

/// The index of the first largest value, or of the first NaN.
#[inline(always)]
pub(crate) fn first_maximum<T: PartialOrd + Copy>(values: impl Iterator<Item = T>) -> u32 {
    first_extreme(values, |value, best| value > best)
}

/// The index of the first smallest value, or of the first NaN.
#[inline(always)]
pub(crate) fn first_minimum<T: PartialOrd + Copy>(values: impl Iterator<Item = T>) -> u32 {
    first_extreme(values, |value, best| value < best)
}

#[inline(always)]
fn first_extreme<T: PartialOrd + Copy>(
    values: impl Iterator<Item = T>,
    is_better: impl Fn(T, T) -> bool,
) -> u32 {
    let mut best: Option<(u32, T)> = None;
    for (index, value) in (0..).zip(values) {
        #[allow(clippy::eq_op, reason = "NaN is what differs from itself")]
        let replaces =
            best.is_none_or(|(_, best)| best == best && (is_better(value, best) || value != value));
        if replaces {
            best = Some((index, value));
        }
    }
    best.map_or(0, |(index, _)| index)
}
