//! The gradients of sums, means and extremes by their input.
//!
//! The gradient of an extreme goes to one element: the first of equal ones, or the first NaN. PyTorch's `max(dim)` and
//! `min(dim)`, which return indices, do the same; its `amax` and `amin` divide the gradient evenly among equal ones.

use dahl::ndarray::{ArrayView0, ArrayViewD, ArrayViewMutD};
use dahl::prelude::*;

use super::arg_extreme::{first_maximum, first_minimum};
use super::reduce::reduced;
use crate::cpu::row_major::{around, elements, fold_lanes, row_major, write};
use crate::cpu::scratch::with_scratch;

/// The gradient of [`sum`](super::sum()) by its input: `out = gradient` everywhere.
///
/// # Shapes
/// `gradient: []`, `out`: any.
#[codelet(R, W, cuda = crate::kernels::SUM_BACKWARD, gradient = adjoint(super::sum), reference = crate::reference::reduce_backward::sum_backward, error = rounded)]
pub fn sum_backward<T: Real>(gradient: ArrayView0<T>, mut out: ArrayViewMutD<T>) {
    out.fill(gradient[[]]);
}

/// The gradient of [`mean`](super::mean) by its input: `out = gradient / out.len()` everywhere.
///
/// # Shapes
/// `gradient: []`, `out`: any.
#[codelet(R, W, cuda = crate::kernels::MEAN_BACKWARD, gradient = adjoint(super::mean), reference = crate::reference::reduce_backward::mean_backward, error = ulp(1))]
pub fn mean_backward<T: Real>(gradient: ArrayView0<T>, mut out: ArrayViewMutD<T>) {
    let count = <T::Compute as Real>::from_f64(out.len() as f64);
    out.fill(T::narrow(gradient[[]].widen() / count));
}

/// The gradient of [`sum_axis`](super::sum_axis) by its input: `out = gradient`, broadcast along `axis`.
///
/// # Shapes
/// `out` as the input of [`sum_axis`](super::sum_axis), `gradient` as its output.
#[codelet(
    R, W,
    check(axis < out.shape().len()),
    check(gradient.shape() == reduced(out.shape(), axis)),
    rows(axis),
    cuda = crate::kernels::SUM_AXIS_BACKWARD,
    gradient = adjoint(super::sum_axis),
    reference = crate::reference::reduce_backward::sum_axis_backward,
    error = rounded
)]
pub fn sum_axis_backward<T: Real>(gradient: ArrayViewD<T>, out: ArrayViewMutD<T>, axis: usize) {
    stretch(gradient, out, axis, |gradient| gradient);
}

/// The gradient of [`mean_axis`](super::mean_axis) by its input: `out = gradient / out.shape()[axis]`, broadcast along
/// `axis`.
///
/// # Shapes
/// `out` as the input of [`mean_axis`](super::mean_axis), `gradient` as its output.
#[codelet(
    R, W,
    check(axis < out.shape().len()),
    check(gradient.shape() == reduced(out.shape(), axis)),
    rows(axis),
    cuda = crate::kernels::MEAN_AXIS_BACKWARD,
    gradient = adjoint(super::mean_axis),
    reference = crate::reference::reduce_backward::mean_axis_backward,
    error = ulp(1)
)]
pub fn mean_axis_backward<T: Real>(gradient: ArrayViewD<T>, out: ArrayViewMutD<T>, axis: usize) {
    let count = <T::Compute as Real>::from_f64(out.shape()[axis] as f64);
    stretch(gradient, out, axis, |gradient| T::narrow(gradient.widen() / count));
}

/// `out[b, .., a] = f(gradient[b, a])`.
#[inline(always)]
fn stretch<T: Real>(gradient: ArrayViewD<'_, T>, out: ArrayViewMutD<'_, T>, axis: usize, f: impl Fn(T) -> T) {
    let [_, extent, after] = around(out.shape(), axis);
    let gradient = row_major(&gradient);
    let gradient = elements(&gradient);
    write(out, |out| {
        if out.is_empty() {
            return;
        }
        for (gradient, block) in gradient.chunks_exact(after).zip(out.chunks_exact_mut(extent * after)) {
            if after == 1 {
                block.fill(f(gradient[0]));
                continue;
            }
            for row in block.chunks_exact_mut(after) {
                for (out, &gradient) in row.iter_mut().zip(gradient) {
                    *out = f(gradient);
                }
            }
        }
    });
}

/// The gradient of [`max`](super::max()) by its input: `gradient` at the first largest element, or the first NaN, and 0
/// elsewhere.
///
/// # Shapes
/// `input` and `out` of one shape, `gradient: []`.
#[codelet(
    R, R, W,
    shape(out = input),
    cuda = crate::kernels::MAX_BACKWARD,
    gradient = max_backward_gradient(input),
    reference = crate::reference::reduce_backward::max_backward,
    error = rounded
)]
pub fn max_backward<T: Real>(input: &[T], gradient: ArrayView0<T>, out: &mut [T]) {
    put_at(out, first_maximum(input), gradient[[]]);
}

fn max_backward_gradient<T: Real, const N: usize>(rule: MaxBackwardGradient<'_, T, N>) -> dahl::Result<()> {
    let arena = rule.scope.detached();
    if let Some(by_gradient) = rule.by_gradient {
        let place = max_backward_init(arena, rule.input, &arena.filled([], T::ONE)?)?;
        *by_gradient = super::dot_init(rule.scope, &place, rule.gradient_out)?;
    }
    if let Some(by_input) = rule.by_input {
        // The place of the extreme does not move.
        *by_input = arena.zeros(by_input.shape())?;
    }
    Ok(())
}

/// The gradient of [`min`](super::min()) by its input: `gradient` at the first smallest element, or the first NaN, and 0
/// elsewhere.
///
/// # Shapes
/// `input` and `out` of one shape, `gradient: []`.
#[codelet(
    R, R, W,
    shape(out = input),
    cuda = crate::kernels::MIN_BACKWARD,
    gradient = min_backward_gradient(input),
    reference = crate::reference::reduce_backward::min_backward,
    error = rounded
)]
pub fn min_backward<T: Real>(input: &[T], gradient: ArrayView0<T>, out: &mut [T]) {
    put_at(out, first_minimum(input), gradient[[]]);
}

fn min_backward_gradient<T: Real, const N: usize>(rule: MinBackwardGradient<'_, T, N>) -> dahl::Result<()> {
    let arena = rule.scope.detached();
    if let Some(by_gradient) = rule.by_gradient {
        let place = min_backward_init(arena, rule.input, &arena.filled([], T::ONE)?)?;
        *by_gradient = super::dot_init(rule.scope, &place, rule.gradient_out)?;
    }
    if let Some(by_input) = rule.by_input {
        // The place of the extreme does not move.
        *by_input = arena.zeros(by_input.shape())?;
    }
    Ok(())
}

/// Writes `value` at `index`, and zeros elsewhere; nothing if `out` is empty.
#[inline(always)]
fn put_at<T: Real>(out: &mut [T], index: usize, value: T) {
    out.fill(T::ZERO);
    if let Some(out) = out.get_mut(index) {
        *out = value;
    }
}

/// The gradient of [`max_axis`](super::max_axis) by its input: `gradient` at the first largest element along `axis`, or
/// the first NaN, and 0 elsewhere.
///
/// # Shapes
/// `input` and `out` of one shape, `gradient` the same with extent 1 at `axis`.
#[codelet(
    R, R, W,
    shape(out = input),
    check(axis < input.shape().len()),
    check(gradient.shape() == reduced(input.shape(), axis)),
    cuda = crate::kernels::MAX_AXIS_BACKWARD,
    gradient = max_axis_backward_gradient(input),
    reference = crate::reference::reduce_backward::max_axis_backward,
    error = rounded
)]
pub fn max_axis_backward<T: Real>(
    input: ArrayViewD<T>,
    gradient: ArrayViewD<T>,
    out: ArrayViewMutD<T>,
    axis: usize,
) {
    put_along(input, gradient, out, axis, first_maximum);
}

fn max_axis_backward_gradient<T: Real, const N: usize>(
    rule: MaxAxisBackwardGradient<'_, T, N>,
) -> dahl::Result<()> {
    let (arena, axis) = (rule.scope.detached(), rule.axis);
    if let Some(by_gradient) = rule.by_gradient {
        let ones = arena.filled(by_gradient.shape(), T::ONE)?;
        let places = max_axis_backward_init(arena, rule.input, &ones, axis)?;
        let placed = super::mul_init(rule.scope, &places, rule.gradient_out)?;
        *by_gradient = super::sum_axis_init(rule.scope, &placed, axis)?;
    }
    if let Some(by_input) = rule.by_input {
        // The places of the extremes do not move.
        *by_input = arena.zeros(by_input.shape())?;
    }
    Ok(())
}

/// The gradient of [`min_axis`](super::min_axis) by its input: `gradient` at the first smallest element along `axis`, or
/// the first NaN, and 0 elsewhere.
///
/// # Shapes
/// As for [`max_axis_backward`].
#[codelet(
    R, R, W,
    shape(out = input),
    check(axis < input.shape().len()),
    check(gradient.shape() == reduced(input.shape(), axis)),
    cuda = crate::kernels::MIN_AXIS_BACKWARD,
    gradient = min_axis_backward_gradient(input),
    reference = crate::reference::reduce_backward::min_axis_backward,
    error = rounded
)]
pub fn min_axis_backward<T: Real>(
    input: ArrayViewD<T>,
    gradient: ArrayViewD<T>,
    out: ArrayViewMutD<T>,
    axis: usize,
) {
    put_along(input, gradient, out, axis, first_minimum);
}

fn min_axis_backward_gradient<T: Real, const N: usize>(
    rule: MinAxisBackwardGradient<'_, T, N>,
) -> dahl::Result<()> {
    let (arena, axis) = (rule.scope.detached(), rule.axis);
    if let Some(by_gradient) = rule.by_gradient {
        let ones = arena.filled(by_gradient.shape(), T::ONE)?;
        let places = min_axis_backward_init(arena, rule.input, &ones, axis)?;
        let placed = super::mul_init(rule.scope, &places, rule.gradient_out)?;
        *by_gradient = super::sum_axis_init(rule.scope, &placed, axis)?;
    }
    if let Some(by_input) = rule.by_input {
        // The places of the extremes do not move.
        *by_input = arena.zeros(by_input.shape())?;
    }
    Ok(())
}

/// Writes `gradient` at the index along `axis` that `place` finds in `input`, and zeros elsewhere.
#[inline(always)]
fn put_along<T: Real>(
    input: ArrayViewD<'_, T>,
    gradient: ArrayViewD<'_, T>,
    out: ArrayViewMutD<'_, T>,
    axis: usize,
    place: impl Fn(&[T]) -> usize,
) {
    let extents @ [before, extent, after] = around(input.shape(), axis);
    let (input, gradient) = (row_major(&input), row_major(&gradient));
    write(out, |out| {
        out.fill(T::ZERO);
        if out.is_empty() {
            return;
        }
        with_scratch([before * after], |[places]: [&mut [u32]; 1]| {
            fold_lanes(elements(&input), extents, places, |lane| place(lane) as u32);
            for (lane, (&place, &gradient)) in places.iter().zip(elements(&gradient)).enumerate() {
                out[(lane / after * extent + place as usize) * after + lane % after] = gradient;
            }
        });
    });
}
