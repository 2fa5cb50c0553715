//! Products, in twice the digits and with an exponent of their own.

use ndarray::{ArrayView0, ArrayViewD, ArrayViewMut0, ArrayViewMutD};

use super::lane::{fold, map_two};

pub(crate) fn product(input: &[f64], mut out: ArrayViewMut0<'_, f64>) {
    out[[]] = product_of(input.iter().copied());
}

pub(crate) fn product_axis(input: ArrayViewD<'_, f64>, out: ArrayViewMutD<'_, f64>, axis: usize) {
    fold(input, out, axis, |lane, _| product_of(lane.iter().copied()));
}

pub(crate) fn product_backward(input: &[f64], gradient: ArrayView0<'_, f64>, out: &mut [f64]) {
    out.copy_from_slice(&products_of_others(input, gradient[[]]));
}

pub(crate) fn product_axis_backward(
    input: ArrayViewD<'_, f64>,
    gradient: ArrayViewD<'_, f64>,
    out: ArrayViewMutD<'_, f64>,
    axis: usize,
) {
    map_two(input, gradient, out, axis, |lane, gradient| products_of_others(lane, gradient[0]));
}

/// For each value, `factor` times the product of all others.
fn products_of_others(values: &[f64], factor: f64) -> Vec<f64> {
    let others = |i: usize| values.iter().enumerate().filter(move |(j, _)| *j != i).map(|(_, &value)| value);
    (0..values.len()).map(|i| product_of(others(i).chain([factor]))).collect()
}

/// The product: `(high + low) * 2^exponent`.
fn product_of(values: impl Iterator<Item = f64>) -> f64 {
    let (mut high, mut low, mut exponent) = (1.0_f64, 0.0_f64, 0_i64);
    for value in values {
        let (fraction, shift) = split(value);
        let product = high * fraction;
        if !product.is_normal() {
            (high, low) = (product, 0.0);
            continue;
        }
        low = high.mul_add(fraction, -product) + low * fraction;
        let (fraction, carried) = split(product);
        let scale = fraction / product;
        (high, low) = (fraction, low * scale);
        exponent += shift + carried;
    }
    let total = high + low;
    let exponent = exponent.clamp(-3000, 3000);
    // In steps that are exact except for the last one.
    let (steps, rest) = (exponent / 1000, exponent % 1000);
    let value = total * 2.0_f64.powi(rest as i32);
    (0..steps.abs()).fold(value, |value, _| value * 2.0_f64.powi(1000 * steps.signum() as i32))
}

/// `fraction` in `1 .. 2`, and the exponent: `value = fraction * 2^exponent`. Zeros, infinities and NaN are returned as
/// they are.
fn split(value: f64) -> (f64, i64) {
    if value == 0.0 || !value.is_finite() {
        return (value, 0);
    }
    if !value.is_normal() {
        let (fraction, exponent) = split(value * 2.0_f64.powi(64));
        return (fraction, exponent - 64);
    }
    let exponent = (value.to_bits() >> 52 & 0x7FF) as i64 - 1023;
    (f64::from_bits(value.to_bits() & !(0x7FF << 52) | 1023 << 52), exponent)
}
