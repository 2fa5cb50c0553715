//! [`rms_norm`]: rows divided by their root mean square, times a weight; and its gradients.
//!
//! Zhang and Sennrich 2019, *Root Mean Square Layer Normalization*. As in [`layer_norm`](super::layer_norm()), a row is a line
//! along the last axis, and the gradients compute its root mean square again.

use dahl::Result;
use dahl::ndarray::{ArrayView1, ArrayViewD, ArrayViewMut1, ArrayViewMutD};
use dahl::prelude::*;

use super::layer_norm::{Rows, backward_input_on, backward_weight_on, is_epsilon, row_shape};
use crate::cpu::gemm::Cores;
use crate::cpu::normalize::{Affine, Centre, normalized};
use crate::cpu::row_major::{elements, row_major, write};

/// `out = input / sqrt(mean of input^2 + epsilon) * weight`, for each row along the last axis, as PyTorch's `rms_norm`.
///
/// # Shapes
/// `input: [.., extent]`, `weight: [extent]`, `out` as `input`.
#[codelet(
    R, R, W,
    shape(out = input),
    check(input.shape().last() == Some(&weight.len())),
    check(is_epsilon(epsilon)),
    rows(input.shape().len() - 1, whole = [weight]),
    flops = 4 * input.len(),
    parallel = rms_norm_on_cores,
    cuda = crate::kernels::RMS_NORM,
    gradient = rms_norm_gradient(input, weight),
    reference = crate::reference::layer_norm::rms_norm,
    error = sum(n = weight.len() + 16)
)]
pub fn rms_norm<T: Real>(input: ArrayViewD<T>, weight: ArrayView1<T>, out: ArrayViewMutD<T>, epsilon: f64) {
    rms_norm_on(Cores::One, input, weight, out, epsilon);
}

/// [`rms_norm`] on several cores, which share the rows.
fn rms_norm_on_cores<T: Real>(
    input: ArrayViewD<T>,
    weight: ArrayView1<T>,
    out: ArrayViewMutD<T>,
    epsilon: f64,
) {
    rms_norm_on(Cores::Pool, input, weight, out, epsilon);
}

fn rms_norm_on<T: Real>(
    cores: Cores,
    input: ArrayViewD<'_, T>,
    weight: ArrayView1<'_, T>,
    out: ArrayViewMutD<'_, T>,
    epsilon: f64,
) {
    let (input, weight) = (row_major(&input), row_major(&weight));
    let affine = Affine { weight: elements(&weight), bias: None, epsilon };
    write(out, |out| normalized(cores, elements(&input), affine, Centre::Zero, out));
}

fn rms_norm_gradient<T: Real, const N: usize>(rule: RmsNormGradient<'_, T, N>) -> Result<()> {
    let RmsNormGradient { input, weight, gradient, by_input, by_weight, epsilon, scope } = rule;
    if let Some(by_input) = by_input {
        *by_input = rms_norm_backward_input_init(scope, input, weight, gradient, epsilon)?;
    }
    if let Some(by_weight) = by_weight {
        if scope.sum(by_weight) {
            rms_norm_backward_weight(input, gradient, by_weight, epsilon)?;
        } else {
            *by_weight = rms_norm_backward_weight_init(scope, input, gradient, epsilon)?;
        }
    }
    Ok(())
}

/// The gradient of [`rms_norm`] by its input. With `g = gradient * weight`, the normalized row `y` and its factor
/// `r = 1 / sqrt(mean of input^2 + epsilon)`: `out = r * (g - y * mean of (g * y))`.
///
/// # Shapes
/// `input`, `gradient` and `out` of one shape `[.., extent]`, `weight: [extent]`.
#[codelet(
    R, R, R, W,
    shape(out = input),
    check(input.shape().last() == Some(&weight.len())),
    check(gradient.shape() == input.shape()),
    check(is_epsilon(epsilon)),
    rows(input.shape().len() - 1, whole = [weight]),
    flops = 10 * input.len(),
    parallel = rms_norm_backward_input_on_cores,
    cuda = crate::kernels::RMS_NORM_BACKWARD_INPUT,
    gradient = rms_norm_backward_input_gradient(input, weight, gradient),
    reference = crate::reference::layer_norm::rms_norm_backward_input,
    error = sum(n = weight.len() + 32, terms = crate::reference::layer_norm::rms_norm_backward_input_terms)
)]
pub fn rms_norm_backward_input<T: Real>(
    input: ArrayViewD<T>,
    weight: ArrayView1<T>,
    gradient: ArrayViewD<T>,
    out: ArrayViewMutD<T>,
    epsilon: f64,
) {
    backward_input_on(Cores::One, [input, gradient], weight, out, epsilon, Centre::Zero);
}

/// [`rms_norm_backward_input`] on several cores, which share the rows.
fn rms_norm_backward_input_on_cores<T: Real>(
    input: ArrayViewD<T>,
    weight: ArrayView1<T>,
    gradient: ArrayViewD<T>,
    out: ArrayViewMutD<T>,
    epsilon: f64,
) {
    backward_input_on(Cores::Pool, [input, gradient], weight, out, epsilon, Centre::Zero);
}

fn rms_norm_backward_input_gradient<T: Real, const N: usize>(
    rule: RmsNormBackwardInputGradient<'_, T, N>,
) -> Result<()> {
    let RmsNormBackwardInputGradient { input, weight, gradient, gradient_out, epsilon, scope, .. } = rule;
    let ones = scope.detached().filled(weight.shape(), T::ONE)?;
    let projected = rms_norm_backward_input_init(scope, input, &ones, gradient_out, epsilon)?;
    if let Some(by_gradient) = rule.by_gradient {
        *by_gradient = super::mul_init(scope, &projected, &*weight.reshaped(row_shape(input.shape()))?)?;
    }
    if let Some(by_weight) = rule.by_weight {
        let products = super::mul_init(scope, gradient, &projected)?;
        *by_weight = super::bias_backward_init(scope, &products, N - 1)?;
    }
    if let Some(by_input) = rule.by_input {
        let weighted = super::mul_init(scope, gradient, &*weight.reshaped(row_shape(input.shape()))?)?;
        let rows = Rows {
            normalized: &rms_norm_init(scope, input, &ones, epsilon)?,
            squares: &super::mean_axis_init(scope, &super::mul_init(scope, input, input)?, N - 1)?,
            gradient: &weighted,
            projected_gradient: &rms_norm_backward_input_init(scope, input, weight, gradient, epsilon)?,
            direction: gradient_out,
            projected_direction: &projected,
        };
        *by_input = rows.by_input(scope, epsilon, None)?;
    }
    Ok(())
}

/// Adds to `out` the gradient of [`rms_norm`] by its weight: the sum of `gradient` times the normalized input, over rows. The
/// gradients of parts add up.
///
/// # Shapes
/// `input` and `gradient` of one shape `[.., extent]`, `out: [extent]`.
#[codelet(
    R, R, REDUX,
    shape(out = [input.shape().last().copied().unwrap_or(0)]),
    check(!input.shape().is_empty()),
    check(gradient.shape() == input.shape()),
    check(is_epsilon(epsilon)),
    flops = 5 * input.len(),
    parallel = rms_norm_backward_weight_on_cores,
    cuda = crate::kernels::RMS_NORM_BACKWARD_WEIGHT,
    gradient = rms_norm_backward_weight_gradient(input, gradient),
    reference = crate::reference::layer_norm::rms_norm_backward_weight,
    error = sum(n = input.len() / out.len().max(1) + out.len() + 16)
)]
pub fn rms_norm_backward_weight<T: Real>(
    input: ArrayViewD<T>,
    gradient: ArrayViewD<T>,
    out: ArrayViewMut1<T::Compute>,
    epsilon: f64,
) {
    backward_weight_on(Cores::One, [input, gradient], out, epsilon, Centre::Zero);
}

/// [`rms_norm_backward_weight`] on several cores, which share the rows.
fn rms_norm_backward_weight_on_cores<T: Real>(
    input: ArrayViewD<T>,
    gradient: ArrayViewD<T>,
    out: ArrayViewMut1<T::Compute>,
    epsilon: f64,
) {
    backward_weight_on(Cores::Pool, [input, gradient], out, epsilon, Centre::Zero);
}

fn rms_norm_backward_weight_gradient<T: Real, const N: usize>(
    rule: RmsNormBackwardWeightGradient<'_, T, N>,
) -> Result<()> {
    let RmsNormBackwardWeightGradient { input, gradient, gradient_out, epsilon, scope, .. } = rule;
    if let Some(by_input) = rule.by_input {
        *by_input = rms_norm_backward_input_init(scope, input, gradient_out, gradient, epsilon)?;
    }
    if let Some(by_gradient) = rule.by_gradient {
        *by_gradient = rms_norm_init(scope, input, gradient_out, epsilon)?;
    }
    Ok(())
}
