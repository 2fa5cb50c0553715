//! Gradients of exponential functions and logarithms.

use std::f64::consts::{LN_2, LN_10};

pub(crate) fn exp_backward(output: f64, gradient: f64) -> f64 {
    output * gradient
}

pub(crate) fn exp2_backward(output: f64, gradient: f64) -> f64 {
    LN_2 * output * gradient
}

pub(crate) fn expm1_backward(x: f64, gradient: f64) -> f64 {
    x.exp() * gradient
}

pub(crate) fn ln_backward(x: f64, gradient: f64) -> f64 {
    gradient / x
}

pub(crate) fn log2_backward(x: f64, gradient: f64) -> f64 {
    gradient / (x * LN_2)
}

pub(crate) fn log10_backward(x: f64, gradient: f64) -> f64 {
    gradient / (x * LN_10)
}

pub(crate) fn log1p_backward(x: f64, gradient: f64) -> f64 {
    gradient / (x + 1.0)
}
