//! Inverse hyperbolic functions, more accurate than the standard library's.

use std::f64::consts::LN_2;

/// By a step of Newton's method, which needs only `sinh`.
pub(crate) fn asinh(x: f64) -> f64 {
    let size = x.abs();
    if size > 1e150 {
        return (size.ln() + LN_2).copysign(x);
    }
    let guess = x.asinh();
    let step = (guess.sinh() - x) / guess.cosh();
    // Without a step, zero keeps its sign.
    if step == 0.0 || step.is_nan() { guess } else { guess - step }
}

/// `2 * asinh(sqrt((x - 1) / 2))`.
pub(crate) fn acosh(x: f64) -> f64 {
    if x > 1e150 { x.ln() + LN_2 } else { 2.0 * asinh(((x - 1.0) / 2.0).sqrt()) }
}

/// By the definition with a logarithm; near zero, where that cancels, by the series.
pub(crate) fn atanh(x: f64) -> f64 {
    if x.abs() > 0.4 {
        return (((1.0 + x.abs()) / (1.0 - x.abs())).ln() / 2.0).copysign(x);
    }
    let mut sum = 0.0;
    for k in (1..30).rev() {
        sum = (sum + 1.0 / f64::from(2 * k + 1)) * x * x;
    }
    x + x * sum
}
