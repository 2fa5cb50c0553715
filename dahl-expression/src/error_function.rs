//! The error function in f64, for [`evaluate`](crate::Graph::evaluate): by its series near zero, by the continued fraction
//! of its complement farther out (Abramowitz and Stegun 1964, 7.1.6 and 7.1.14).

/// `2 / sqrt(π)` times the integral of `exp(-t * t)` from 0 to `x`.
pub(crate) fn erf(x: f64) -> f64 {
    if x.abs() < 2.0 { series(x) } else { (1.0 - fraction(x.abs())).copysign(x) }
}

/// `1 - erf(x)`, accurate where it is small.
pub(crate) fn erfc(x: f64) -> f64 {
    match x {
        _ if x < -2.0 => 2.0 - fraction(-x),
        _ if x < 2.0 => 1.0 - series(x),
        _ => fraction(x),
    }
}

fn series(x: f64) -> f64 {
    let (mut term, mut sum) = (x, x);
    for n in 0..100 {
        term *= 2.0 * x * x / f64::from(2 * n + 3);
        sum += term;
    }
    std::f64::consts::FRAC_2_SQRT_PI * (-x * x).exp() * sum
}

fn fraction(x: f64) -> f64 {
    if x.is_nan() || x > 30.0 {
        return if x.is_nan() { x } else { 0.0 };
    }
    let tail = (1..200).rev().fold(x, |tail, n| x + 0.5 * f64::from(n) / tail);
    0.5 * std::f64::consts::FRAC_2_SQRT_PI * (-x * x).exp() / tail
}
