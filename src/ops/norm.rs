//! Norms of all elements or along an axis: the Euclidean [`norm`] and the sum of magnitudes [`norm_l1`].
//!
//! Where squares would overflow, or lose digits to underflow, elements are divided by the largest first. So a norm is
//! infinite only where its value is. Squares of half-precision numbers never overflow the compute type.

use dahl::ndarray::{ArrayView0, ArrayViewD, ArrayViewMut0, ArrayViewMutD};
use dahl::prelude::*;

use super::reduce::reduced;
use crate::cpu::row_major::{around, elements, fold_lanes, map_lanes, row_major, write};
use crate::cpu::scratch::with_scratch;
use crate::cpu::sum_of::{magnitude_of, norm_of, sum_of};

/// `out = sqrt(sum of input[i]^2)`, the Euclidean norm.
///
/// # Shapes
/// `input`: any, `out: []`.
#[codelet(
    R, W,
    shape(out = []),
    flops = 2 * input.len(),
    cuda = crate::kernels::NORM,
    gradient = norm_rule(input),
    reference = crate::reference::norm::norm,
    error = sum(n = input.len() + 4)
)]
pub fn norm<T: Real>(input: &[T], mut out: ArrayViewMut0<T>) {
    out[[]] = T::narrow(norm_of(input));
}

fn norm_rule<T: Real, const N: usize>(rule: NormGradient<'_, T, N>) -> dahl::Result<()> {
    let Some(by_input) = rule.by_input else { return Ok(()) };
    *by_input = norm_backward_init(rule.scope, rule.input, rule.gradient)?;
    Ok(())
}

/// `out = sqrt(sum of input[i]^2)`, along `axis`.
///
/// # Shapes
/// `out` as `input`, with extent 1 at `axis`.
#[codelet(
    R, W,
    shape(out = reduced(input.shape(), axis)),
    check(axis < input.shape().len()),
    rows(axis),
    flops = 2 * input.len(),
    cuda = crate::kernels::NORM_AXIS,
    gradient = norm_axis_gradient(input),
    reference = crate::reference::norm::norm_axis,
    error = sum(n = input.shape()[axis] + 4)
)]
pub fn norm_axis<T: Real>(input: ArrayViewD<T>, out: ArrayViewMutD<T>, axis: usize) {
    let extents = around(input.shape(), axis);
    let input = row_major(&input);
    write(out, |out| fold_lanes(elements(&input), extents, out, |lane| T::narrow(norm_of(lane))));
}

fn norm_axis_gradient<T: Real, const N: usize>(rule: NormAxisGradient<'_, T, N>) -> dahl::Result<()> {
    let Some(by_input) = rule.by_input else { return Ok(()) };
    *by_input = norm_axis_backward_init(rule.scope, rule.input, rule.gradient, rule.axis)?;
    Ok(())
}

/// Adds to `out` the sum of all magnitudes, `sum of |input[i]|`.
///
/// # Shapes
/// `input`: any, `out: []`.
#[codelet(
    R, REDUX,
    shape(out = []),
    flops = input.len(),
    cuda = crate::kernels::NORM_L1,
    gradient = norm_l1_gradient(input),
    reference = crate::reference::norm::norm_l1,
    error = sum(n = input.len() + 1)
)]
pub fn norm_l1<T: Real>(input: &[T], mut out: ArrayViewMut0<T::Compute>) {
    out[[]] += sum_of(input, |value| value.abs());
}

fn norm_l1_gradient<T: Real, const N: usize>(rule: NormL1Gradient<'_, T, N>) -> dahl::Result<()> {
    let Some(by_input) = rule.by_input else { return Ok(()) };
    let signs = super::sign_init(rule.scope, rule.input)?;
    *by_input = super::mul_init(rule.scope, &signs, &*rule.gradient.reshaped([1; N])?)?;
    Ok(())
}

/// Adds to `out` the sums of magnitudes along `axis`, `sum of |input[i]|`.
///
/// # Shapes
/// `out` as `input`, with extent 1 at `axis`.
#[codelet(
    R, REDUX,
    shape(out = reduced(input.shape(), axis)),
    check(axis < input.shape().len()),
    rows(axis),
    flops = input.len(),
    cuda = crate::kernels::NORM_L1_AXIS,
    gradient = norm_l1_axis_gradient(input),
    reference = crate::reference::norm::norm_l1_axis,
    error = sum(n = input.shape()[axis] + 1)
)]
pub fn norm_l1_axis<T: Real>(input: ArrayViewD<T>, out: ArrayViewMutD<T::Compute>, axis: usize) {
    let extents = around(input.shape(), axis);
    let input = row_major(&input);
    with_scratch([out.len()], |[sums]: [&mut [T::Compute]; 1]| {
        fold_lanes(elements(&input), extents, sums, |lane| sum_of(lane, |value| value.abs()));
        write(out, |out| out.iter_mut().zip(sums).for_each(|(out, sum)| *out += *sum));
    });
}

fn norm_l1_axis_gradient<T: Real, const N: usize>(rule: NormL1AxisGradient<'_, T, N>) -> dahl::Result<()> {
    let Some(by_input) = rule.by_input else { return Ok(()) };
    let signs = super::sign_init(rule.scope, rule.input)?;
    *by_input = super::mul_init(rule.scope, &signs, rule.gradient)?;
    Ok(())
}

/// The gradient of [`norm`] by its input: `out[i] = gradient * input[i] / norm`, and 0 where the norm is 0, as in
/// PyTorch.
///
/// # Shapes
/// `input` and `out` of one shape, `gradient: []`.
#[codelet(
    R, R, W,
    shape(out = input),
    flops = 3 * input.len(),
    cuda = crate::kernels::NORM_BACKWARD,
    gradient = norm_backward_gradient(input, gradient),
    reference = crate::reference::norm::norm_backward,
    error = sum(n = input.len() + 8)
)]
pub fn norm_backward<T: Real>(input: &[T], gradient: ArrayView0<T>, out: &mut [T]) {
    map_lanes(input, [1, input.len(), 1], out, |lane| norm_gradient(lane, gradient[[]].widen()));
}

fn norm_backward_gradient<T: Real, const N: usize>(rule: NormBackwardGradient<'_, T, N>) -> dahl::Result<()> {
    let NormBackwardGradient { input, gradient, gradient_out, by_input, by_gradient, scope } = rule;
    let one = scope.detached().filled([], T::ONE)?;
    let direction = norm_backward_init(scope, input, &one)?;
    let along = super::dot_init(scope, &direction, gradient_out)?;
    if let Some(by_input) = by_input {
        // What is across the input, divided by its norm.
        let across = super::mul_init(scope, &direction, &*along.reshaped([1; N])?)?;
        let across = super::sub_init(scope, gradient_out, &across)?;
        let factor = super::div_init(scope, gradient, &norm_init(scope, input)?)?;
        *by_input = super::mul_init(scope, &across, &*factor.reshaped([1; N])?)?;
    }
    if let Some(by_gradient) = by_gradient {
        *by_gradient = along;
    }
    Ok(())
}

/// The gradient of [`norm_axis`] by its input, as [`norm_backward`] along `axis`.
///
/// # Shapes
/// `input` and `out` of one shape, `gradient` the same with extent 1 at `axis`.
#[codelet(
    R, R, W,
    shape(out = input),
    check(axis < input.shape().len()),
    check(gradient.shape() == reduced(input.shape(), axis)),
    flops = 3 * input.len(),
    cuda = crate::kernels::NORM_AXIS_BACKWARD,
    gradient = norm_axis_backward_gradient(input, gradient),
    reference = crate::reference::norm::norm_axis_backward,
    error = sum(n = input.shape()[axis] + 8)
)]
pub fn norm_axis_backward<T: Real>(
    input: ArrayViewD<T>,
    gradient: ArrayViewD<T>,
    out: ArrayViewMutD<T>,
    axis: usize,
) {
    let extents = around(input.shape(), axis);
    let input = row_major(&input);
    let mut gradients = gradient.iter();
    write(out, |out| {
        map_lanes(elements(&input), extents, out, |lanes| {
            for (lane, gradient) in lanes.chunks_exact_mut(extents[1]).zip(&mut gradients) {
                norm_gradient(lane, gradient.widen());
            }
        });
    });
}

fn norm_axis_backward_gradient<T: Real, const N: usize>(
    rule: NormAxisBackwardGradient<'_, T, N>,
) -> dahl::Result<()> {
    let NormAxisBackwardGradient { input, gradient, gradient_out, by_input, by_gradient, axis, scope } = rule;
    let ones = scope.detached().filled(gradient.shape(), T::ONE)?;
    let direction = norm_axis_backward_init(scope, input, &ones, axis)?;
    let along = super::sum_axis_init(scope, &super::mul_init(scope, &direction, gradient_out)?, axis)?;
    if let Some(by_input) = by_input {
        let across = super::mul_init(scope, &direction, &along)?;
        let across = super::sub_init(scope, gradient_out, &across)?;
        let factor = super::div_init(scope, gradient, &norm_axis_init(scope, input, axis)?)?;
        *by_input = super::mul_init(scope, &across, &factor)?;
    }
    if let Some(by_gradient) = by_gradient {
        *by_gradient = along;
    }
    Ok(())
}

/// Replaces each value by the gradient of the norm by it, times `factor`.
#[inline(always)]
fn norm_gradient<C: Real<Compute = C>>(values: &mut [C], factor: C) {
    let mut norm = norm_of(&*values);
    let largest = magnitude_of(&*values);
    let is_in_range = norm.is_finite() && norm >= C::MIN_POSITIVE;
    if !is_in_range && largest.is_finite() && largest > C::ZERO {
        // A subnormal norm has few digits, and an overflowed one none: both are computed from the values divided by the
        // largest.
        values.iter_mut().for_each(|value| *value /= largest);
        norm = norm_of(&*values);
    }
    for value in values {
        *value = if norm == C::ZERO { C::ZERO } else { *value / norm * factor };
    }
}
