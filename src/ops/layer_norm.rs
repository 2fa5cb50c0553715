//! [`layer_norm`]: rows with mean 0 and variance 1, times a weight, plus a bias; and its gradients.
//!
//! Ba, Kiros and Hinton 2016, *Layer Normalization*. A row is a line along the last axis. The gradients compute the
//! statistics of a row from the input again, while the row is in the cache: the operation keeps no arrays for them.

use dahl::ndarray::{ArrayView1, ArrayViewD, ArrayViewMut1, ArrayViewMutD};
use dahl::prelude::*;
use dahl::{Result, RuleScope};

use crate::cpu::gemm::Cores;
use crate::cpu::normalize::{Affine, Centre, add_by_weight, normalized, normalized_backward};
use crate::cpu::row_major::{elements, row_major, write};

/// Whether it can be added to a variance.
pub(super) fn is_epsilon(epsilon: f64) -> bool {
    epsilon.is_finite() && epsilon >= 0.0
}

/// `out = (input - mean) / sqrt(variance + epsilon) * weight + bias`, for each row along the last axis, with the biased
/// variance `mean of (input - mean)^2`, as PyTorch's `layer_norm`.
///
/// ```
/// use dahl::ops::layer_norm_init;
/// use dahl::prelude::*;
///
/// # fn main() -> dahl::Result<()> {
/// let rt = Runtime::new()?;
/// let arena = rt.arena();
/// let input = arena.from_slice([2, 2], &[1.0_f32, 3.0, -2.0, -2.0])?;
/// let (weight, bias) = (arena.from_slice([2], &[1.0, 2.0])?, arena.from_slice([2], &[0.0, 0.5])?);
/// assert_eq!(layer_norm_init(&arena, &input, &weight, &bias, 1e-12)?.to_vec()?, [-1.0, 2.5, 0.0, 0.5]);
/// # Ok(())
/// # }
/// ```
///
/// # Shapes
/// `input: [.., extent]`, `weight` and `bias: [extent]`, `out` as `input`.
#[codelet(
    R, R, R, W,
    shape(out = input),
    check(input.shape().last() == Some(&weight.len())),
    check(weight.shape() == bias.shape()),
    check(is_epsilon(epsilon)),
    rows(input.shape().len() - 1, whole = [weight, bias]),
    flops = 8 * input.len(),
    parallel = layer_norm_on_cores,
    cuda = crate::kernels::LAYER_NORM,
    gradient = layer_norm_gradient(input, weight),
    reference = crate::reference::layer_norm::layer_norm,
    error = sum(n = weight.len() + 16, terms = crate::reference::layer_norm::layer_norm_terms)
)]
pub fn layer_norm<T: Real>(
    input: ArrayViewD<T>,
    weight: ArrayView1<T>,
    bias: ArrayView1<T>,
    out: ArrayViewMutD<T>,
    epsilon: f64,
) {
    layer_norm_on(Cores::One, input, weight, bias, out, epsilon);
}

/// [`layer_norm`] on several cores, which share the rows.
fn layer_norm_on_cores<T: Real>(
    input: ArrayViewD<T>,
    weight: ArrayView1<T>,
    bias: ArrayView1<T>,
    out: ArrayViewMutD<T>,
    epsilon: f64,
) {
    layer_norm_on(Cores::Pool, input, weight, bias, out, epsilon);
}

fn layer_norm_on<T: Real>(
    cores: Cores,
    input: ArrayViewD<'_, T>,
    weight: ArrayView1<'_, T>,
    bias: ArrayView1<'_, T>,
    out: ArrayViewMutD<'_, T>,
    epsilon: f64,
) {
    let (input, weight, bias) = (row_major(&input), row_major(&weight), row_major(&bias));
    let affine = Affine { weight: elements(&weight), bias: Some(elements(&bias)), epsilon };
    write(out, |out| normalized(cores, elements(&input), affine, Centre::Mean, out));
}

fn layer_norm_gradient<T: Real, const N: usize>(rule: LayerNormGradient<'_, T, N>) -> Result<()> {
    let LayerNormGradient { input, weight, gradient, by_input, by_weight, by_bias, epsilon, scope } = rule;
    if let Some(by_input) = by_input {
        *by_input = layer_norm_backward_input_init(scope, input, weight, gradient, epsilon)?;
    }
    if let Some(by_weight) = by_weight {
        if scope.sum(by_weight) {
            layer_norm_backward_weight(input, gradient, by_weight, epsilon)?;
        } else {
            *by_weight = layer_norm_backward_weight_init(scope, input, gradient, epsilon)?;
        }
    }
    if let Some(by_bias) = by_bias {
        if scope.sum(by_bias) {
            super::bias_backward(gradient, by_bias, N - 1)?;
        } else {
            *by_bias = super::bias_backward_init(scope, gradient, N - 1)?;
        }
    }
    Ok(())
}

/// The gradient of [`layer_norm`] by its input. With `g = gradient * weight`, the normalized row `y` and its factor
/// `r = 1 / sqrt(variance + epsilon)`: `out = r * (g - mean of g - y * mean of (g * y))`.
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
    flops = 14 * input.len(),
    parallel = layer_norm_backward_input_on_cores,
    cuda = crate::kernels::LAYER_NORM_BACKWARD_INPUT,
    gradient = layer_norm_backward_input_gradient(input, weight, gradient),
    reference = crate::reference::layer_norm::layer_norm_backward_input,
    error = sum(n = weight.len() + 32, terms = crate::reference::layer_norm::layer_norm_backward_input_terms)
)]
pub fn layer_norm_backward_input<T: Real>(
    input: ArrayViewD<T>,
    weight: ArrayView1<T>,
    gradient: ArrayViewD<T>,
    out: ArrayViewMutD<T>,
    epsilon: f64,
) {
    backward_input_on(Cores::One, [input, gradient], weight, out, epsilon, Centre::Mean);
}

/// [`layer_norm_backward_input`] on several cores, which share the rows.
fn layer_norm_backward_input_on_cores<T: Real>(
    input: ArrayViewD<T>,
    weight: ArrayView1<T>,
    gradient: ArrayViewD<T>,
    out: ArrayViewMutD<T>,
    epsilon: f64,
) {
    backward_input_on(Cores::Pool, [input, gradient], weight, out, epsilon, Centre::Mean);
}

/// The gradient by the input of rows that are normalized around `centre`, of input and gradient.
pub(super) fn backward_input_on<T: Real>(
    cores: Cores,
    inputs: [ArrayViewD<'_, T>; 2],
    weight: ArrayView1<'_, T>,
    out: ArrayViewMutD<'_, T>,
    epsilon: f64,
    centre: Centre,
) {
    let (inputs, weight) = (inputs.each_ref().map(row_major), row_major(&weight));
    let affine = Affine { weight: elements(&weight), bias: None, epsilon };
    write(out, |out| normalized_backward(cores, inputs.each_ref().map(elements), affine, centre, out));
}

fn layer_norm_backward_input_gradient<T: Real, const N: usize>(
    rule: LayerNormBackwardInputGradient<'_, T, N>,
) -> Result<()> {
    let LayerNormBackwardInputGradient { input, weight, gradient, gradient_out, epsilon, scope, .. } = rule;
    // It is symmetric: `out = r A (gradient * weight)` with a symmetric matrix `A` of each row.
    let ones = scope.detached().filled(weight.shape(), T::ONE)?;
    let projected = layer_norm_backward_input_init(scope, input, &ones, gradient_out, epsilon)?;
    if let Some(by_gradient) = rule.by_gradient {
        *by_gradient = super::mul_init(scope, &projected, &*weight.reshaped(row_shape(input.shape()))?)?;
    }
    if let Some(by_weight) = rule.by_weight {
        let products = super::mul_init(scope, gradient, &projected)?;
        *by_weight = super::bias_backward_init(scope, &products, N - 1)?;
    }
    if let Some(by_input) = rule.by_input {
        let zeros = scope.detached().zeros(weight.shape())?;
        let weighted = super::mul_init(scope, gradient, &*weight.reshaped(row_shape(input.shape()))?)?;
        let rows = Rows {
            normalized: &layer_norm_init(scope, input, &ones, &zeros, epsilon)?,
            squares: &super::variance_axis_init(scope, input, N - 1, 0)?,
            gradient: &weighted,
            projected_gradient: &layer_norm_backward_input_init(scope, input, weight, gradient, epsilon)?,
            direction: gradient_out,
            projected_direction: &projected,
        };
        let mean = |array| super::mean_axis_init(scope, array, N - 1);
        let of_means = super::mul_init(scope, &mean(gradient_out)?, &mean(&weighted)?)?;
        *by_input = rows.by_input(scope, epsilon, Some(&of_means))?;
    }
    Ok(())
}

/// `shape` with extents of 1 but the last.
pub(super) fn row_shape<const N: usize>(mut shape: [usize; N]) -> [usize; N] {
    shape[..N - 1].fill(1);
    shape
}

/// What the second gradient of a normalization by its input is computed from.
///
/// With the normalized row `y`, its factor `r`, the gradient `g` (times the weight), a direction `h` and the projection
/// `P(v) = r (v - mean of v - y mean of (v y))`, the first gradient along `h` is `r n H` with
/// `H = mean of (h g) - mean of h * mean of g - mean of (h y) * mean of (g y)`. Its gradient by the input is
/// `-r^2 H y - r (mean of (g y) P(h) + mean of (h y) P(g))`. Around zero there are no means of `v`, `h` and `g`.
pub(super) struct Rows<'a, 'm, T: Real, const N: usize> {
    /// `y`.
    pub(super) normalized: &'a Array<'m, T, N>,
    /// The mean of the squares without `epsilon`, of which `r` is the reciprocal root.
    pub(super) squares: &'a Array<'m, T, N>,
    /// `g`.
    pub(super) gradient: &'a Array<'m, T, N>,
    /// `P(g)`.
    pub(super) projected_gradient: &'a Array<'m, T, N>,
    /// `h`.
    pub(super) direction: &'a Array<'m, T, N>,
    /// `P(h)`.
    pub(super) projected_direction: &'a Array<'m, T, N>,
}

impl<T: Real, const N: usize> Rows<'_, '_, T, N> {
    /// The gradient by the input; `of_means` is the product of the means of `h` and `g`, if the mean was subtracted.
    pub(super) fn by_input<'r>(
        &self,
        scope: &'r RuleScope<'r>,
        epsilon: f64,
        of_means: Option<&Array<'_, T, N>>,
    ) -> Result<Array<'r, T, N>> {
        use super::{add_init, mul_init, sub_init};

        let mean_of = |a: &Array<'_, T, N>, b: &Array<'_, T, N>| {
            super::mean_axis_init(scope, &mul_init(scope, a, b)?, N - 1)
        };
        let squares = super::add_value_init(scope, self.squares, T::from_f64(epsilon))?;
        let factor = super::recip_init(scope, &super::sqrt_init(scope, &squares)?)?;
        let gradient_along = mean_of(self.gradient, self.normalized)?;
        let direction_along = mean_of(self.direction, self.normalized)?;
        let mut common = mean_of(self.direction, self.gradient)?;
        if let Some(of_means) = of_means {
            common = sub_init(scope, &common, of_means)?;
        }
        common = sub_init(scope, &common, &mul_init(scope, &direction_along, &gradient_along)?)?;
        let along = mul_init(scope, self.normalized, &mul_init(scope, &factor, &common)?)?;
        let across = add_init(
            scope,
            &mul_init(scope, self.projected_direction, &gradient_along)?,
            &mul_init(scope, self.projected_gradient, &direction_along)?,
        )?;
        super::neg_init(scope, &mul_init(scope, &add_init(scope, &along, &across)?, &factor)?)
    }
}

/// Adds to `out` the gradient of [`layer_norm`] by its weight: the sum of `gradient` times the normalized input, over rows.
/// (The gradient by its bias is [`bias_backward`](super::bias_backward) along the last axis.) The gradients of parts add up.
///
/// # Shapes
/// `input` and `gradient` of one shape `[.., extent]`, `out: [extent]`.
#[codelet(
    R, R, REDUX,
    shape(out = [input.shape().last().copied().unwrap_or(0)]),
    check(!input.shape().is_empty()),
    check(gradient.shape() == input.shape()),
    check(is_epsilon(epsilon)),
    flops = 8 * input.len(),
    parallel = layer_norm_backward_weight_on_cores,
    cuda = crate::kernels::LAYER_NORM_BACKWARD_WEIGHT,
    gradient = layer_norm_backward_weight_gradient(input, gradient),
    reference = crate::reference::layer_norm::layer_norm_backward_weight,
    error = sum(
        n = input.len() / out.len().max(1) + out.len() + 16,
        terms = crate::reference::layer_norm::layer_norm_backward_weight_terms
    )
)]
pub fn layer_norm_backward_weight<T: Real>(
    input: ArrayViewD<T>,
    gradient: ArrayViewD<T>,
    out: ArrayViewMut1<T::Compute>,
    epsilon: f64,
) {
    backward_weight_on(Cores::One, [input, gradient], out, epsilon, Centre::Mean);
}

/// [`layer_norm_backward_weight`] on several cores, which share the rows.
fn layer_norm_backward_weight_on_cores<T: Real>(
    input: ArrayViewD<T>,
    gradient: ArrayViewD<T>,
    out: ArrayViewMut1<T::Compute>,
    epsilon: f64,
) {
    backward_weight_on(Cores::Pool, [input, gradient], out, epsilon, Centre::Mean);
}

/// Adds the gradient by the weight of rows that are normalized around `centre`, of input and gradient.
pub(super) fn backward_weight_on<T: Real>(
    cores: Cores,
    inputs: [ArrayViewD<'_, T>; 2],
    out: ArrayViewMut1<'_, T::Compute>,
    epsilon: f64,
    centre: Centre,
) {
    let inputs = inputs.each_ref().map(row_major);
    write(out, |sums| add_by_weight(cores, inputs.each_ref().map(elements), sums, epsilon, centre));
}

fn layer_norm_backward_weight_gradient<T: Real, const N: usize>(
    rule: LayerNormBackwardWeightGradient<'_, T, N>,
) -> Result<()> {
    let LayerNormBackwardWeightGradient { input, gradient, gradient_out, epsilon, scope, .. } = rule;
    if let Some(by_input) = rule.by_input {
        *by_input = layer_norm_backward_input_init(scope, input, gradient_out, gradient, epsilon)?;
    }
    if let Some(by_gradient) = rule.by_gradient {
        let zeros = scope.detached().zeros(gradient_out.shape())?;
        *by_gradient = layer_norm_init(scope, input, gradient_out, &zeros, epsilon)?;
    }
    Ok(())
}
