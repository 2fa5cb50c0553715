//! The error function and the normal distribution, by their series and continued fractions.

use std::f64::consts::{FRAC_2_SQRT_PI, PI};

/// `2 / sqrt(π) - FRAC_2_SQRT_PI`.
const FRAC_2_SQRT_PI_LOW: f64 = 1.533545961316588e-17;

/// By the Maclaurin series up to 1, `2 / sqrt(π) * sum of (-1)^n x^(2n + 1) / (n! (2n + 1))`, whose first term has no
/// rounding error; farther out by the continued fraction of its complement.
pub(crate) fn erf(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    if x.abs() > 1.0 {
        let size = x.abs();
        return (1.0 - FRAC_2_SQRT_PI / 2.0 * exp_minus_square(size) / fraction(size, 0.5)).copysign(x);
    }
    let square = x * x;
    let (mut factor, mut sum) = (1.0, 0.0);
    let mut terms = Vec::new();
    for n in 1..30 {
        factor *= -square / f64::from(n);
        terms.push(factor / f64::from(2 * n + 1));
    }
    for term in terms.into_iter().rev() {
        sum += term;
    }
    let first = x * FRAC_2_SQRT_PI;
    let lost = x.mul_add(FRAC_2_SQRT_PI, -first) + x * FRAC_2_SQRT_PI_LOW;
    if first == 0.0 { first } else { first + (first * sum + lost) }
}

/// The probability that a normal deviate is below `x`: below -1 and above 1 by the continued fraction of Mills' ratio
/// (W. Feller, *An Introduction to Probability Theory and Its Applications*, vol. 1, 1968, VII.6), between them by the
/// series `1/2 + density(x) * sum of x^(2n + 1) / (1 * 3 * .. * (2n + 1))`.
pub(crate) fn normal_probability(x: f64) -> f64 {
    let size = x.abs();
    if size > 1.0 {
        let beyond = normal_density(size) / fraction(size, 1.0);
        return if x < 0.0 { beyond } else { 1.0 - beyond };
    }
    let (mut term, mut sum) = (x, x);
    for n in 1..40 {
        term *= x * x / f64::from(2 * n + 1);
        sum += term;
    }
    0.5 + normal_density(x) * sum
}

/// `exp(-x * x / 2) / sqrt(2π)`.
pub(crate) fn normal_density(x: f64) -> f64 {
    if x.abs() > 100.0 {
        return 0.0;
    }
    let square = x * x;
    let lost = x.mul_add(x, -square);
    (-square / 2.0).exp() * (1.0 - lost / 2.0) / (2.0 * PI).sqrt()
}

/// `exp(-x * x)`.
fn exp_minus_square(x: f64) -> f64 {
    if x > 100.0 {
        return 0.0;
    }
    let square = x * x;
    let lost = x.mul_add(x, -square);
    (-square).exp() * (1.0 - lost)
}

/// `x + k / (x + 2k / (x + 3k / ..))`.
fn fraction(x: f64, k: f64) -> f64 {
    (1..500).rev().fold(x, |denominator, n| x + k * f64::from(n) / denominator)
}
