//! [`tile`]: repeats an array along an axis; and its gradient. For several axes, call it several times.

use dahl::ndarray::{ArrayViewD, ArrayViewMutD, Axis, Slice};
use dahl::prelude::*;

use crate::cpu::row_major::{add_sums, around, elements, row_major, write};
use crate::cpu::scratch::with_scratch;

/// `shape` with `repeats` times its extent at `axis`.
fn tiled<const N: usize>(mut shape: [usize; N], axis: usize, repeats: usize) -> [usize; N] {
    if let Some(extent) = shape.get_mut(axis) {
        *extent = extent.saturating_mul(repeats);
    }
    shape
}

/// `shape` with the extent at `axis` divided by `repeats`.
fn untiled<const N: usize>(mut shape: [usize; N], axis: usize, repeats: usize) -> [usize; N] {
    if let Some(extent) = shape.get_mut(axis) {
        *extent /= repeats.max(1);
    }
    shape
}

/// `out = ` `repeats` copies of `input`, one after the other along `axis`, as NumPy's and PyTorch's `tile`.
///
/// # Shapes
/// `out` as `input`, with `repeats` times its extent at `axis`.
#[codelet(
    R, W,
    shape(out = tiled(input.shape(), axis, repeats)),
    check(axis < input.shape().len()),
    cuda = crate::kernels::TILE,
    gradient = tile_gradient(),
    reference = crate::reference::moved::tile,
    error = rounded
)]
pub fn tile<T: Element>(input: ArrayViewD<T>, mut out: ArrayViewMutD<T>, axis: usize, repeats: usize) {
    if input.is_empty() {
        return; // however often it is repeated
    }
    let extent = input.shape()[axis];
    for start in (0..repeats).map(|copy| copy * extent) {
        out.slice_axis_mut(Axis(axis), Slice::from(start..start + extent)).assign(&input);
    }
}

fn tile_gradient<T: Real, const N: usize>(rule: TileGradient<'_, T, N>) -> dahl::Result<()> {
    let Some(by_input) = rule.by_input else { return Ok(()) };
    if rule.repeats == 0 {
        // Nothing was copied.
        *by_input = rule.scope.detached().zeros(by_input.shape())?;
        return Ok(());
    }
    *by_input = tile_backward_init(rule.scope, rule.gradient, rule.axis, rule.repeats)?;
    Ok(())
}

/// The gradient of [`tile`] by its input: the sum of the copies' gradients.
///
/// # Shapes
/// `gradient` as the output of [`tile`], `out` as its input.
#[codelet(
    R, W,
    shape(out = untiled(gradient.shape(), axis, repeats)),
    check(gradient.shape().get(axis).is_some_and(|extent| repeats > 0 && extent % repeats == 0)),
    flops = gradient.len(),
    cuda = crate::kernels::TILE_BACKWARD,
    gradient = tile_backward_gradient(),
    reference = crate::reference::scattered::tile_backward,
    error = sum(n = repeats)
)]
pub fn tile_backward<T: Real>(gradient: ArrayViewD<T>, out: ArrayViewMutD<T>, axis: usize, repeats: usize) {
    let [before, extent, after] = around(out.shape(), axis);
    let gradient = row_major(&gradient);
    with_scratch([out.len()], |[sums]: [&mut [T::Compute]; 1]| {
        sums.fill(T::Compute::ZERO);
        add_sums(elements(&gradient), [before, repeats, extent * after], sums);
        write(out, |out| T::narrow_slice(sums, out));
    });
}

fn tile_backward_gradient<T: Real, const N: usize>(rule: TileBackwardGradient<'_, T, N>) -> dahl::Result<()> {
    let Some(by_gradient) = rule.by_gradient else { return Ok(()) };
    *by_gradient = tile_init(rule.scope, rule.gradient_out, rule.axis, rule.repeats)?;
    Ok(())
}
