//! Variances of all elements or along an axis: [`variance`], [`variance_axis`], and their gradients.
//!
//! `correction` is subtracted from the number of elements: 0 gives the variance of a population, 1 the unbiased one of
//! a sample, as PyTorch's argument of this name. The mean is computed first and subtracted, so no digits cancel. The
//! result is neither infinite nor lost where its value can be represented. It is NaN if there are no more elements than
//! the correction and they are equal.

use dahl::ndarray::{ArrayView0, ArrayViewD, ArrayViewMut0, ArrayViewMutD};
use dahl::prelude::*;

use super::reduce::reduced;
use crate::cpu::row_major::{around, elements, fold_lanes, map_lanes, row_major, write};
use crate::cpu::sum_of::{variance_gradient, variance_of};

/// `out = sum of (input[i] - mean)^2 / (input.len() - correction)`.
///
/// # Shapes
/// `input`: any, `out: []`.
#[codelet(
    R, W,
    shape(out = []),
    check(correction <= input.len().max(1)),
    flops = 5 * input.len(),
    cuda = crate::kernels::VARIANCE,
    gradient = variance_gradient_rule(input),
    reference = crate::reference::variance::variance,
    error = sum(n = input.len() + 8, terms = crate::reference::variance::variance_terms)
)]
pub fn variance<T: Real>(input: &[T], mut out: ArrayViewMut0<T>, correction: usize) {
    out[[]] = T::narrow(variance_of(input, correction));
}

fn variance_gradient_rule<T: Real, const N: usize>(rule: VarianceGradient<'_, T, N>) -> dahl::Result<()> {
    let Some(by_input) = rule.by_input else { return Ok(()) };
    *by_input = variance_backward_init(rule.scope, rule.input, rule.gradient, rule.correction)?;
    Ok(())
}

/// `out = sum of (input[i] - mean)^2 / (input.shape()[axis] - correction)`, along `axis`.
///
/// # Shapes
/// `out` as `input`, with extent 1 at `axis`.
#[codelet(
    R, W,
    shape(out = reduced(input.shape(), axis)),
    check(axis < input.shape().len()),
    check(correction <= input.shape()[axis].max(1)),
    rows(axis),
    flops = 5 * input.len(),
    cuda = crate::kernels::VARIANCE_AXIS,
    gradient = variance_axis_gradient(input),
    reference = crate::reference::variance::variance_axis,
    error = sum(n = input.shape()[axis] + 8, terms = crate::reference::variance::variance_axis_terms)
)]
pub fn variance_axis<T: Real>(input: ArrayViewD<T>, out: ArrayViewMutD<T>, axis: usize, correction: usize) {
    let extents = around(input.shape(), axis);
    let input = row_major(&input);
    write(out, |out| {
        fold_lanes(elements(&input), extents, out, |lane| T::narrow(variance_of(lane, correction)));
    });
}

fn variance_axis_gradient<T: Real, const N: usize>(rule: VarianceAxisGradient<'_, T, N>) -> dahl::Result<()> {
    let Some(by_input) = rule.by_input else { return Ok(()) };
    let (gradient, axis) = (rule.gradient, rule.axis);
    *by_input = variance_axis_backward_init(rule.scope, rule.input, gradient, axis, rule.correction)?;
    Ok(())
}

/// The gradient of [`variance`] by its input: `out[i] = gradient * 2 (input[i] - mean) / (input.len() - correction)`.
///
/// # Shapes
/// `input` and `out` of one shape, `gradient: []`.
#[codelet(
    R, R, W,
    shape(out = input),
    check(correction <= input.len().max(1)),
    flops = 5 * input.len(),
    cuda = crate::kernels::VARIANCE_BACKWARD,
    gradient = variance_backward_gradient(input, gradient),
    reference = crate::reference::variance::variance_backward,
    error = sum(n = input.len() + 8, terms = crate::reference::variance::variance_backward_terms)
)]
pub fn variance_backward<T: Real>(input: &[T], gradient: ArrayView0<T>, out: &mut [T], correction: usize) {
    let extents = [1, input.len(), 1];
    map_lanes(input, extents, out, |lane| variance_gradient(lane, correction, gradient[[]].widen()));
}

fn variance_backward_gradient<T: Real, const N: usize>(
    rule: VarianceBackwardGradient<'_, T, N>,
) -> dahl::Result<()> {
    let VarianceBackwardGradient { input, gradient, gradient_out, by_input, by_gradient, correction, scope } =
        rule;
    if let Some(by_input) = by_input {
        *by_input = variance_backward_init(scope, gradient_out, gradient, correction)?;
    }
    if let Some(by_gradient) = by_gradient {
        let one = scope.detached().filled([], T::ONE)?;
        let of_one = variance_backward_init(scope, input, &one, correction)?;
        *by_gradient = super::dot_init(scope, &of_one, gradient_out)?;
    }
    Ok(())
}

/// The gradient of [`variance_axis`] by its input, as [`variance_backward`] along `axis`.
///
/// # Shapes
/// `input` and `out` of one shape, `gradient` the same with extent 1 at `axis`.
#[codelet(
    R, R, W,
    shape(out = input),
    check(axis < input.shape().len()),
    check(correction <= input.shape()[axis].max(1)),
    check(gradient.shape() == reduced(input.shape(), axis)),
    rows(axis),
    flops = 5 * input.len(),
    cuda = crate::kernels::VARIANCE_AXIS_BACKWARD,
    gradient = variance_axis_backward_gradient(input, gradient),
    reference = crate::reference::variance::variance_axis_backward,
    error = sum(n = input.shape()[axis] + 8, terms = crate::reference::variance::variance_axis_backward_terms)
)]
pub fn variance_axis_backward<T: Real>(
    input: ArrayViewD<T>,
    gradient: ArrayViewD<T>,
    out: ArrayViewMutD<T>,
    axis: usize,
    correction: usize,
) {
    let extents = around(input.shape(), axis);
    let input = row_major(&input);
    let mut gradients = gradient.iter();
    write(out, |out| {
        map_lanes(elements(&input), extents, out, |lanes| {
            for (lane, gradient) in lanes.chunks_exact_mut(extents[1]).zip(&mut gradients) {
                variance_gradient(lane, correction, gradient.widen());
            }
        });
    });
}

fn variance_axis_backward_gradient<T: Real, const N: usize>(
    rule: VarianceAxisBackwardGradient<'_, T, N>,
) -> dahl::Result<()> {
    let (input, gradient, gradient_out, scope) = (rule.input, rule.gradient, rule.gradient_out, rule.scope);
    if let Some(by_input) = rule.by_input {
        *by_input = variance_axis_backward_init(scope, gradient_out, gradient, rule.axis, rule.correction)?;
    }
    if let Some(by_gradient) = rule.by_gradient {
        let ones = scope.detached().filled(gradient.shape(), T::ONE)?;
        let of_one = variance_axis_backward_init(scope, input, &ones, rule.axis, rule.correction)?;
        *by_gradient =
            super::sum_axis_init(scope, &super::mul_init(scope, &of_one, gradient_out)?, rule.axis)?;
    }
    Ok(())
}
