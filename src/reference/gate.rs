//! The functions of the gates of recurrent cells, and their terms: the magnitude of a result, and what the terms of the argument
//! have in it, by the derivative.

/// `1 / (1 + exp(-x))`.
pub(super) fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// The terms of `logistic(x)`, where those of `x` are `terms`.
pub(super) fn logistic_terms(x: f64, terms: f64) -> f64 {
    logistic(x) * (1.0 + logistic(-x) * terms)
}

/// The terms of `tanh(x)`, where those of `x` are `terms`.
pub(super) fn tanh_terms(x: f64, terms: f64) -> f64 {
    let slope = 1.0 / x.cosh();
    x.tanh().abs() + slope * slope * terms
}
