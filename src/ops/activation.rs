//! Activation functions, element by element. Parameters and conventions, also at kinks, are PyTorch's.

use dahl::prelude::*;

use crate::reference::activation as reference;

/// The logistic function, `out = 1 / (1 + exp(-x))`, element by element.
// exp is off by 1.2 ulp, 2.4 ulp of the result; then the sum and the quotient.
#[codelet(R, W, gradient = sigmoid_gradient(out), reference = reference::sigmoid, error = ulp(4))]
pub fn sigmoid<T: Real>(x: T) -> T {
    // Of -|x|, so that no power overflows.
    let power = (-x.abs()).exp();
    let numerator = if x < T::ZERO { power } else { T::ONE };
    numerator / (T::ONE + power)
}

fn sigmoid_gradient<T: Real, const N: usize>(rule: SigmoidGradient<'_, T, N>) -> dahl::Result<()> {
    let Some(by_x) = rule.by_x else { return Ok(()) };
    *by_x = sigmoid_backward_init(rule.scope, rule.out, rule.gradient)?;
    Ok(())
}

/// The gradient of [`sigmoid`] by its input: `out = gradient * output * (1 - output)`, where `output = sigmoid(x)`.
#[codelet(R, R, W, in_place = gradient, reference = reference::sigmoid_backward, error = ulp(2.5))]
pub fn sigmoid_backward<T: Real>(output: T, gradient: T) -> T {
    gradient * (output * (T::ONE - output))
}

/// `out = ln(sigmoid(x)) = -ln(1 + exp(-x))`, element by element, without overflow.
// As `softplus`.
#[codelet(R, W, gradient = log_sigmoid_gradient(x), reference = reference::log_sigmoid, error = ulp(5))]
pub fn log_sigmoid<T: Real>(x: T) -> T {
    -((-x).max(T::ZERO) + (-x.abs()).exp().ln_1p())
}

fn log_sigmoid_gradient<T: Real, const N: usize>(rule: LogSigmoidGradient<'_, T, N>) -> dahl::Result<()> {
    let Some(by_x) = rule.by_x else { return Ok(()) };
    *by_x = log_sigmoid_backward_init(rule.scope, rule.x, rule.gradient)?;
    Ok(())
}

/// The gradient of [`log_sigmoid`] by its input: `out = gradient * sigmoid(-x)`.
#[codelet(R, R, W, in_place = gradient, reference = reference::log_sigmoid_backward, error = ulp(5))]
pub fn log_sigmoid_backward<T: Real>(x: T, gradient: T) -> T {
    // Of -|x|; by a branch, whose derivative at 0 is that of the function.
    let power = (if x < T::ZERO { x } else { -x }).exp();
    let numerator = if x > T::ZERO { power } else { T::ONE };
    gradient * (numerator / (T::ONE + power))
}

/// `out = ln(1 + exp(x))`, element by element: about `exp(x)` far below zero, and without overflow far above.
// exp is off by 1.2 ulp, 2.4 ulp of the logarithm, which is itself off by 0.9 ulp; then the sum.
#[codelet(R, W, gradient = softplus_gradient(x), reference = reference::softplus, error = ulp(5))]
pub fn softplus<T: Real>(x: T) -> T {
    x.max(T::ZERO) + (-x.abs()).exp().ln_1p()
}

fn softplus_gradient<T: Real, const N: usize>(rule: SoftplusGradient<'_, T, N>) -> dahl::Result<()> {
    let Some(by_x) = rule.by_x else { return Ok(()) };
    *by_x = softplus_backward_init(rule.scope, rule.x, rule.gradient)?;
    Ok(())
}

/// The gradient of [`softplus`] by its input: `out = gradient * sigmoid(x)`.
#[codelet(R, R, W, in_place = gradient, reference = reference::softplus_backward, error = ulp(5))]
pub fn softplus_backward<T: Real>(x: T, gradient: T) -> T {
    // Of -|x|; by a branch, whose derivative at 0 is that of the function.
    let power = (if x < T::ZERO { x } else { -x }).exp();
    let numerator = if x < T::ZERO { power } else { T::ONE };
    gradient * (numerator / (T::ONE + power))
}

/// `out = ln(1 + exp(beta * x)) / beta` where `beta * x <= threshold`, else `x`, element by element: [`softplus`] with the
/// arguments that PyTorch's has.
// As `softplus`, and the quotient; the product and its constant are off by 2 units of roundoff, which count as much as the
// derivative says.
#[codelet(
    R, W,
    check(beta != 0.0),
    gradient = softplus_scaled_gradient(x),
    reference = reference::softplus_scaled,
    error = sum(n = 6, terms = reference::softplus_scaled_terms)
)]
pub fn softplus_scaled<T: Real>(x: T, beta: f64, threshold: f64) -> T {
    let scale = T::from_f64(beta);
    let scaled = scale * x;
    if scaled > T::from_f64(threshold) {
        x
    } else {
        (scaled.max(T::ZERO) + (-scaled.abs()).exp().ln_1p()) / scale
    }
}

fn softplus_scaled_gradient<T: Real, const N: usize>(
    rule: SoftplusScaledGradient<'_, T, N>,
) -> dahl::Result<()> {
    let Some(by_x) = rule.by_x else { return Ok(()) };
    *by_x = softplus_scaled_backward_init(rule.scope, rule.x, rule.gradient, rule.beta, rule.threshold)?;
    Ok(())
}

/// The gradient of [`softplus_scaled`] by its input: `out = gradient * sigmoid(beta * x)` where `beta * x <= threshold`, else
/// `gradient`.
#[codelet(
    R, R, W,
    in_place = gradient,
    reference = reference::softplus_scaled_backward,
    error = sum(n = 6, terms = reference::softplus_scaled_backward_terms)
)]
pub fn softplus_scaled_backward<T: Real>(x: T, gradient: T, beta: f64, threshold: f64) -> T {
    let scaled = T::from_f64(beta) * x;
    // Of -|scaled|; by a branch, whose derivative at 0 is that of the function.
    let power = (if scaled < T::ZERO { scaled } else { -scaled }).exp();
    let numerator = if scaled < T::ZERO { power } else { T::ONE };
    let share = if scaled > T::from_f64(threshold) { T::ONE } else { numerator / (T::ONE + power) };
    gradient * share
}

/// `out = x * sigmoid(x)`, element by element; NaN at minus infinity, as in PyTorch.
#[codelet(R, W, gradient = silu_gradient(x), reference = reference::silu, error = ulp(5))]
pub fn silu<T: Real>(x: T) -> T {
    let power = (-x.abs()).exp();
    let numerator = if x < T::ZERO { power } else { T::ONE };
    x * (numerator / (T::ONE + power))
}

fn silu_gradient<T: Real, const N: usize>(rule: SiluGradient<'_, T, N>) -> dahl::Result<()> {
    let Some(by_x) = rule.by_x else { return Ok(()) };
    *by_x = silu_backward_init(rule.scope, rule.x, rule.gradient)?;
    Ok(())
}

/// The gradient of [`silu`] by its input: `out = gradient * s * (1 + x * (1 - s))`, where `s = sigmoid(x)`.
// The derivative has a zero, near which its terms cancel: the bound is that of a sum.
#[codelet(R, R, W, in_place = gradient, reference = reference::silu_backward, error = sum(n = 8))]
pub fn silu_backward<T: Real>(x: T, gradient: T) -> T {
    // Of -|x|; by a branch, whose derivative at 0 is that of the function.
    let power = (if x < T::ZERO { x } else { -x }).exp();
    let small = power / (T::ONE + power);
    let large = (T::ONE + power).recip();
    let value = if x < T::ZERO { small } else { large };
    let complement = if x < T::ZERO { large } else { small };
    gradient * (value * (T::ONE + x * complement))
}

/// `out = max(x, 0)`, element by element; NaN stays NaN.
#[codelet(R, W, gradient = relu_gradient(out), reference = reference::relu, error = rounded)]
pub fn relu<T: Real>(x: T) -> T {
    // One comparison; `max` would also compare the signs of zeros.
    if x <= T::ZERO { T::ZERO } else { x }
}

/// The gradient by the output: `out > 0` exactly where `x > 0`, and NaN stays NaN. The next operation mostly keeps `out` anyway, so
/// `x` need not be kept.
fn relu_gradient<T: Real, const N: usize>(rule: ReluGradient<'_, T, N>) -> dahl::Result<()> {
    let Some(by_x) = rule.by_x else { return Ok(()) };
    *by_x = relu_backward_init(rule.scope, rule.out, rule.gradient)?;
    Ok(())
}

/// The gradient of [`relu`] by its input: `out = gradient` where `x > 0`, else 0. `x` may be the input or the output of
/// the forward op. Where `x` is NaN, the gradient passes, as in PyTorch.
#[codelet(R, R, W, in_place = gradient, reference = reference::relu_backward, error = rounded)]
pub fn relu_backward<T: Real>(x: T, gradient: T) -> T {
    if x <= T::ZERO { T::ZERO } else { gradient }
}

/// `out = x` where `x > 0`, else `slope * x`.
// The slope is rounded to the compute type; then the product.
#[codelet(R, W, reference = reference::leaky_relu, error = ulp(2))]
pub fn leaky_relu<T: Real>(x: T, slope: f64) -> T {
    if x > T::ZERO { x } else { T::from_f64(slope) * x }
}

/// `out = x` where `x > 0`, else `slope * x`, with slopes that are learned, or drawn (He et al. 2015, *Delving deep into
/// rectifiers*). Extents of 1 are broadcast: `[1, channels, 1, 1]` has a slope for each channel of images.
#[codelet(R, R, W, broadcast, reference = reference::leaky_relu, error = rounded)]
pub fn prelu<T: Real>(x: T, slope: T) -> T {
    if x > T::ZERO { x } else { slope * x }
}

/// `out = value * sigmoid(gate)`, element by element: the gated linear unit of the two halves of a layer's output (Dauphin,
/// Fan, Auli and Grangier 2017, *Language modeling with gated convolutional networks*).
// As `silu`, while `exp(-|gate|)` is a normal number.
#[codelet(R, R, W, reference = reference::glu, error = ulp(5))]
pub fn glu<T: Real>(value: T, gate: T) -> T {
    // Of -|gate|; by a branch, whose derivative at 0 is that of the function.
    let power = (if gate < T::ZERO { gate } else { -gate }).exp();
    let numerator = if gate < T::ZERO { power } else { T::ONE };
    value * (numerator / (T::ONE + power))
}

/// `out = x * tanh(softplus(x))`, element by element (Misra 2020, *Mish*); NaN at minus infinity, as in PyTorch.
///
/// `tanh(ln(1 + e))` is `e * (e + 2) / (e * (e + 2) + 2)`, whose terms do not cancel; above zero it is computed from
/// `exp(-x)`.
// exp is off by 1.2 ulp, 2.4 units of roundoff; with the sums and the products, numerator and denominator are off by 5.2
// and 4.1; then the quotient and the product. That holds while `exp(-|x|)` is a normal number.
#[codelet(R, W, gradient = mish_gradient(x), reference = reference::mish, error = ulp(12))]
pub fn mish<T: Real>(x: T) -> T {
    let two = T::from_f64(2.0);
    let power = (if x < T::ZERO { x } else { -x }).exp();
    let numerator = if x < T::ZERO { power * (power + two) } else { T::ONE + two * power };
    let rest = if x < T::ZERO { two } else { two * (power * power) };
    x * (numerator / (numerator + rest))
}

fn mish_gradient<T: Real, const N: usize>(rule: MishGradient<'_, T, N>) -> dahl::Result<()> {
    let Some(by_x) = rule.by_x else { return Ok(()) };
    *by_x = mish_backward_init(rule.scope, rule.x, rule.gradient)?;
    Ok(())
}

/// The gradient of [`mish`] by its input: `out = gradient * (t + x * sigmoid(x) * (1 - t * t))`, where
/// `t = tanh(softplus(x))`.
///
/// With the fraction of [`mish`], `sigmoid(x) * (1 - t * t)` is `4 * e * (1 + e) / denominator^2` below zero, and
/// `4 * e^2 * (1 + e) / denominator^2` of `e = exp(-x)` above.
// The derivative has a zero, near which its terms cancel: the bound is that of a sum.
#[codelet(R, R, W, in_place = gradient, reference = reference::mish_backward, error = sum(n = 8))]
pub fn mish_backward<T: Real>(x: T, gradient: T) -> T {
    let two = T::from_f64(2.0);
    let power = (if x < T::ZERO { x } else { -x }).exp();
    let numerator = if x < T::ZERO { power * (power + two) } else { T::ONE + two * power };
    let rest = if x < T::ZERO { two } else { two * (power * power) };
    let inverse = (numerator + rest).recip();
    let small = if x < T::ZERO { power } else { power * power };
    let slope = T::from_f64(4.0) * (small * inverse) * ((T::ONE + power) * inverse);
    gradient * (numerator * inverse + x * slope)
}

/// `out = x / (1 + |x|)`, element by element; NaN at infinities, as in PyTorch.
#[codelet(R, W, gradient = softsign_gradient(x), reference = reference::softsign, error = ulp(2))]
pub fn softsign<T: Real>(x: T) -> T {
    x / (T::ONE + x.abs())
}

fn softsign_gradient<T: Real, const N: usize>(rule: SoftsignGradient<'_, T, N>) -> dahl::Result<()> {
    let Some(by_x) = rule.by_x else { return Ok(()) };
    *by_x = softsign_backward_init(rule.scope, rule.x, rule.gradient)?;
    Ok(())
}

/// The gradient of [`softsign`] by its input: `out = gradient / (1 + |x|)^2`.
#[codelet(R, R, W, in_place = gradient, reference = reference::softsign_backward, error = ulp(4))]
pub fn softsign_backward<T: Real>(x: T, gradient: T) -> T {
    let denominator = T::ONE + x.abs();
    // Not of the square, which overflows.
    (gradient / denominator) / denominator
}

/// `out = x - tanh(x)`, element by element.
// Near zero the terms cancel: the bound is that of a sum.
#[codelet(R, W, gradient = tanh_shrink_gradient(x), reference = reference::tanh_shrink, error = sum(n = 4, terms = reference::tanh_shrink_terms))]
pub fn tanh_shrink<T: Real>(x: T) -> T {
    x - x.tanh()
}

fn tanh_shrink_gradient<T: Real, const N: usize>(rule: TanhShrinkGradient<'_, T, N>) -> dahl::Result<()> {
    let Some(by_x) = rule.by_x else { return Ok(()) };
    *by_x = tanh_shrink_backward_init(rule.scope, rule.x, rule.gradient)?;
    Ok(())
}

/// The gradient of [`tanh_shrink`] by its input: `out = gradient * tanh(x)^2`.
// tanh is off by 1.5 ulp, 3 units of roundoff, which count twice; then two products.
#[codelet(R, R, W, in_place = gradient, reference = reference::tanh_shrink_backward, error = ulp(8))]
pub fn tanh_shrink_backward<T: Real>(x: T, gradient: T) -> T {
    let tangent = x.tanh();
    gradient * (tangent * tangent)
}

/// `out = x` where `x > 0`, else `alpha * (exp(x / alpha) - 1)`, whose slope at 0 is 1 (Barron 2017, *Continuously
/// differentiable exponential linear units*).
// exp_m1 is off by 2.2 ulp, 4.4 of the product, to which the errors of the quotient and of alpha add at most 1 each.
#[codelet(R, W, check(alpha != 0.0), reference = reference::celu, error = ulp(7))]
pub fn celu<T: Real>(x: T, alpha: f64) -> T {
    let alpha = T::from_f64(alpha);
    if x > T::ZERO { x } else { alpha * (x / alpha).exp_m1() }
}

/// `out = x` where `x > 0`, else `alpha * (exp(x) - 1)`.
// exp_m1 is off by 2.2 ulp, 4.4 of the product, to which the error of alpha adds at most 1.
#[codelet(R, W, reference = reference::elu, error = ulp(6))]
pub fn elu<T: Real>(x: T, alpha: f64) -> T {
    if x > T::ZERO { x } else { T::from_f64(alpha) * x.exp_m1() }
}

/// The scaled exponential linear unit, `out = 1.0507.. * x` where `x > 0`, else `1.7581.. * (exp(x) - 1)` (Klambauer,
/// Unterthiner, Mayr and Hochreiter 2017, *Self-normalizing neural networks*).
// exp_m1 is off by 2.2 ulp, 4.4 ulp of the product; then the constant.
#[codelet(R, W, reference = reference::selu, error = ulp(6))]
pub fn selu<T: Real>(x: T) -> T {
    if x > T::ZERO {
        T::from_f64(1.0507009873554805) * x
    } else {
        T::from_f64(1.7580993408473766) * x.exp_m1()
    }
}

/// The Gaussian error linear unit, `out = x * (1 + erf(x / sqrt(2))) / 2`: `x` times the probability that a normal deviate
/// is below it (Hendrycks and Gimpel 2016, *Gaussian error linear units*). NaN at minus infinity, as in PyTorch.
///
/// It is computed from the complement, `erfc(-x / sqrt(2)) / 2`, so that it is accurate far below zero, where `1 + erf`
/// would cancel.
// erfc is off by 4.0 ulp, 8 ulp of the product; below zero the derivative's approximation leaves up to 0.7 of two
// roundings.
#[codelet(R, W, gradient = gelu_gradient(x), reference = reference::gelu, error = ulp(12))]
pub fn gelu<T: Real>(x: T) -> T {
    // `x / sqrt(2)` and its rounding error, which would otherwise be multiplied by `x * x`.
    let far = T::from_f64(40.0);
    let near = if x > far { far } else { x };
    let near = if near < -far { -far } else { near };
    let z = near * -T::FRAC_1_SQRT_2;
    let rest =
        T::from_f64(std::f64::consts::FRAC_1_SQRT_2 - T::FRAC_1_SQRT_2.to_f64() - 4.833646656726457e-17);
    let lost = near.mul_add(-T::FRAC_1_SQRT_2, -z) - near * rest;
    // Far out, the logarithm of erfc falls by about 2 z per unit.
    let steep = if z > T::ZERO { z } else { T::ZERO };
    let probability = T::from_f64(0.5) * z.erfc();
    x * (probability - probability * (lost * (steep + steep)))
}

fn gelu_gradient<T: Real, const N: usize>(rule: GeluGradient<'_, T, N>) -> dahl::Result<()> {
    let Some(by_x) = rule.by_x else { return Ok(()) };
    *by_x = gelu_backward_init(rule.scope, rule.x, rule.gradient)?;
    Ok(())
}

/// The gradient of [`gelu`] by its input: `out = gradient * (P(x) + x * p(x))` with `P(x) = (1 + erf(x / sqrt(2))) / 2` and
/// `p(x) = exp(-x * x / 2) / sqrt(2π)`.
#[codelet(R, R, W, in_place = gradient, reference = reference::gelu_backward, error = sum(n = 8))]
pub fn gelu_backward<T: Real>(x: T, gradient: T) -> T {
    // Farther out the derivative is 0 or 1.
    let far = T::from_f64(40.0);
    let x = if x > far { far } else { x };
    let x = if x < -far { -far } else { x };
    let half = T::from_f64(0.5);
    let probability = half * (-x * T::FRAC_1_SQRT_2).erfc();
    let density = half * T::FRAC_2_SQRT_PI * T::FRAC_1_SQRT_2 * (-half * x * x).exp();
    gradient * (probability + x * density)
}

/// An approximation of [`gelu`], `out = x * (1 + tanh(sqrt(2 / π) * (x + 0.044715 * x^3))) / 2`.
///
/// `(1 + tanh(u)) / 2` is computed as `sigmoid(2u)`, which does not cancel. Far below zero the relative error grows as
/// `x^3`, with the error of `u`. NaN at minus infinity, as in PyTorch.
#[codelet(R, W, gradient = gelu_tanh_gradient(x), reference = reference::gelu_tanh, error = sum(n = 8))]
pub fn gelu_tanh<T: Real>(x: T) -> T {
    // sqrt(8 / π).
    let factor = T::from_f64(1.5957691216057308);
    let angle = factor * (x * (T::ONE + T::from_f64(0.044715) * (x * x)));
    let power = (-angle.abs()).exp();
    let numerator = if x < T::ZERO { power } else { T::ONE };
    x * (numerator / (T::ONE + power))
}

fn gelu_tanh_gradient<T: Real, const N: usize>(rule: GeluTanhGradient<'_, T, N>) -> dahl::Result<()> {
    let Some(by_x) = rule.by_x else { return Ok(()) };
    *by_x = gelu_tanh_backward_init(rule.scope, rule.x, rule.gradient)?;
    Ok(())
}

/// The gradient of [`gelu_tanh`] by its input: `out = gradient * s * (1 + x * (1 - s) * a)` with `s` the [`sigmoid`] of
/// `2 * sqrt(2 / π) * (x + 0.044715 * x^3)` and `a = 2 * sqrt(2 / π) * (1 + 3 * 0.044715 * x^2)`.
#[codelet(R, R, W, in_place = gradient, reference = reference::gelu_tanh_backward, error = sum(n = 8))]
pub fn gelu_tanh_backward<T: Real>(x: T, gradient: T) -> T {
    // Farther out the derivative is 0 or 1.
    let far = T::from_f64(40.0);
    let x = if x > far { far } else { x };
    let x = if x < -far { -far } else { x };
    let factor = T::from_f64(1.5957691216057308);
    let square = x * x;
    let angle = factor * (x * (T::ONE + T::from_f64(0.044715) * square));
    let slope = factor * (T::ONE + T::from_f64(0.134145) * square);
    let power = (if x < T::ZERO { angle } else { -angle }).exp();
    let small = power / (T::ONE + power);
    let large = (T::ONE + power).recip();
    let value = if x < T::ZERO { small } else { large };
    let complement = if x < T::ZERO { large } else { small };
    gradient * (value * (T::ONE + x * complement * slope))
}
