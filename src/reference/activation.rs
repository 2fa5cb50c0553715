//! Activation functions and their gradients.

use std::f64::consts::{FRAC_2_PI, PI};

use super::error_function::{normal_density, normal_probability};

/// The constants of the scaled exponential linear unit.
const SELU_SCALE: f64 = 1.050_700_987_355_480_5;
const SELU_ALPHA: f64 = 1.673_263_242_354_377_2;

pub(crate) fn sigmoid(x: f64) -> f64 {
    // `exp(-x)` overflows below -709, where the result is not yet 0. Below -40 the result is `exp(x)` to all digits.
    if x < -40.0 { x.exp() } else { 1.0 / (1.0 + (-x).exp()) }
}

pub(crate) fn sigmoid_backward(output: f64, gradient: f64) -> f64 {
    output * gradient * (1.0 - output)
}

pub(crate) fn softplus(x: f64) -> f64 {
    if x > 40.0 { x } else { x.exp().ln_1p() }
}

pub(crate) fn softplus_backward(x: f64, gradient: f64) -> f64 {
    gradient * sigmoid(x)
}

pub(crate) fn softplus_scaled(x: f64, beta: f64, threshold: f64) -> f64 {
    if beta * x > threshold { x } else { softplus(beta * x) / beta }
}

/// The result, and what a relative change of the exponent changes.
pub(crate) fn softplus_scaled_terms(x: f64, beta: f64, threshold: f64) -> f64 {
    let moved = if x == 0.0 || x.is_infinite() { 0.0 } else { x * sigmoid(beta * x) };
    softplus_scaled(x, beta, threshold).abs() + moved.abs()
}

pub(crate) fn softplus_scaled_backward(x: f64, gradient: f64, beta: f64, threshold: f64) -> f64 {
    if beta * x > threshold { gradient } else { gradient * sigmoid(beta * x) }
}

/// As [`softplus_scaled_terms`].
pub(crate) fn softplus_scaled_backward_terms(x: f64, gradient: f64, beta: f64, threshold: f64) -> f64 {
    let power = if x.is_infinite() { 0.0 } else { (beta * x).abs() * sigmoid(-beta * x) };
    softplus_scaled_backward(x, gradient, beta, threshold).abs() * (1.0 + power)
}

pub(crate) fn log_sigmoid(x: f64) -> f64 {
    -softplus(-x)
}

pub(crate) fn log_sigmoid_backward(x: f64, gradient: f64) -> f64 {
    gradient * sigmoid(-x)
}

pub(crate) fn silu(x: f64) -> f64 {
    x * sigmoid(x)
}

pub(crate) fn silu_backward(x: f64, gradient: f64) -> f64 {
    let s = sigmoid(x);
    gradient * (s + x * s * sigmoid(-x))
}

pub(crate) fn relu(x: f64) -> f64 {
    match x {
        x if x <= 0.0 => 0.0,
        x => x,
    }
}

pub(crate) fn relu_backward(x: f64, gradient: f64) -> f64 {
    if x > 0.0 || x.is_nan() { gradient } else { 0.0 }
}

pub(crate) fn leaky_relu(x: f64, slope: f64) -> f64 {
    if x > 0.0 { x } else { x * slope }
}

pub(crate) fn elu(x: f64, alpha: f64) -> f64 {
    if x > 0.0 { x } else { alpha * x.exp_m1() }
}

pub(crate) fn selu(x: f64) -> f64 {
    SELU_SCALE * elu(x, SELU_ALPHA)
}

pub(crate) fn gelu(x: f64) -> f64 {
    x * normal_probability(x)
}

pub(crate) fn gelu_backward(x: f64, gradient: f64) -> f64 {
    let slope = if x.is_infinite() { 0.0 } else { x * normal_density(x) };
    gradient * (normal_probability(x) + slope)
}

/// Twice the argument of tanh.
fn gelu_angle(x: f64) -> f64 {
    2.0 * FRAC_2_PI.sqrt() * (x + 0.044715 * x.powi(3))
}

pub(crate) fn gelu_tanh(x: f64) -> f64 {
    x * sigmoid(gelu_angle(x))
}

pub(crate) fn gelu_tanh_backward(x: f64, gradient: f64) -> f64 {
    // Farther out the sigmoid is 0 or 1 and the other term is 0; infinity times 0 would be NaN.
    let x = if x.abs() > 100.0 { 100.0_f64.copysign(x) } else { x };
    let s = sigmoid(gelu_angle(x));
    let slope = (8.0 / PI).sqrt() * (1.0 + 3.0 * 0.044715 * x * x);
    gradient * (s + x * s * sigmoid(-gelu_angle(x)) * slope)
}

pub(crate) fn glu(value: f64, gate: f64) -> f64 {
    value * sigmoid(gate)
}

pub(crate) fn mish(x: f64) -> f64 {
    x * softplus(x).tanh()
}

pub(crate) fn mish_backward(x: f64, gradient: f64) -> f64 {
    let t = softplus(x).tanh();
    gradient * (t + x * sigmoid(x) * (1.0 - t) * (1.0 + t))
}

pub(crate) fn softsign(x: f64) -> f64 {
    x / (1.0 + x.abs())
}

pub(crate) fn softsign_backward(x: f64, gradient: f64) -> f64 {
    gradient * (1.0 + x.abs()).recip() / (1.0 + x.abs())
}

pub(crate) fn tanh_shrink(x: f64) -> f64 {
    x - x.tanh()
}

/// The sum of the terms' absolute values.
pub(crate) fn tanh_shrink_terms(x: f64) -> f64 {
    x.abs() + x.tanh().abs()
}

pub(crate) fn tanh_shrink_backward(x: f64, gradient: f64) -> f64 {
    gradient * x.tanh() * x.tanh()
}

pub(crate) fn celu(x: f64, alpha: f64) -> f64 {
    if x > 0.0 { x } else { alpha * (x / alpha).exp_m1() }
}
