//! [`permute`]: the axes of an array in another order.

use dahl::ndarray::{ArrayViewD, ArrayViewMutD};
use dahl::prelude::*;

use crate::cpu::axes;
use crate::cpu::row_major::{elements, row_major, row_major_strides, write};

/// Whether each axis is there once.
fn is_permutation<const A: usize>(axes: [usize; A]) -> bool {
    (0..A).all(|axis| axes.contains(&axis))
}

/// The extents in the order of `axes`.
fn permuted<const N: usize, const A: usize>(shape: [usize; N], axes: [usize; A]) -> [usize; N] {
    std::array::from_fn(|axis| axes.get(axis).and_then(|&from| shape.get(from)).copied().unwrap_or(0))
}

/// Axis `i` of `out` is axis `axes[i]` of `input`, as in PyTorch's `permute`, but the elements are moved.
///
/// # Shapes
/// `axes` has each axis of `input` once; `out: [extent of axes[0], extent of axes[1], ..]`.
#[codelet(
    R, W,
    cpu_only,
    shape(out = permuted(input.shape(), axes)),
    check(input.shape().len() == axes.len() && is_permutation(axes)),
    moves = (axes.map(|axis| row_major_strides(input.shape())[axis]), 0),
    gradient = permute_gradient(),
    reference = crate::reference::moved::permute,
    error = rounded
)]
pub fn permute<T: Element, const A: usize>(input: ArrayViewD<T>, out: ArrayViewMutD<T>, axes: [usize; A]) {
    let from = row_major(&input);
    write(out, |out| axes::permute(elements(&from), input.shape(), &axes, out));
}

fn permute_gradient<T: Real, const A: usize, const N: usize>(
    rule: PermuteGradient<'_, T, A, N>,
) -> dahl::Result<()> {
    let Some(by_input) = rule.by_input else { return Ok(()) };
    let mut inverse = [0; A];
    for (axis, from) in rule.axes.into_iter().enumerate() {
        inverse[from] = axis;
    }
    *by_input = permute_init(rule.scope, rule.gradient, inverse)?;
    Ok(())
}
