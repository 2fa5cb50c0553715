//! Variances: the mean is subtracted first.

use ndarray::{ArrayView0, ArrayViewD, ArrayViewMut0, ArrayViewMutD};

use super::lane::{fold, map_two};
use super::sum::{Sum, mean_of, sum_of};

pub(crate) fn variance(input: &[f64], mut out: ArrayViewMut0<'_, f64>, correction: usize) {
    out[[]] = variance_of(input, correction);
}

pub(crate) fn variance_axis(
    input: ArrayViewD<'_, f64>,
    out: ArrayViewMutD<'_, f64>,
    axis: usize,
    correction: usize,
) {
    fold(input, out, axis, |lane, _| variance_of(lane, correction));
}

pub(crate) fn variance_backward(
    input: &[f64],
    gradient: ArrayView0<'_, f64>,
    out: &mut [f64],
    correction: usize,
) {
    out.copy_from_slice(&gradients(input, gradient[[]], correction));
}

pub(crate) fn variance_axis_backward(
    input: ArrayViewD<'_, f64>,
    gradient: ArrayViewD<'_, f64>,
    out: ArrayViewMutD<'_, f64>,
    axis: usize,
    correction: usize,
) {
    map_two(input, gradient, out, axis, |lane, gradient| gradients(lane, gradient[0], correction));
}

/// The magnitude is that of the squares. The error of the mean, `k u |mean|` with `k` below 64, enters the kernel's
/// result only through its square, after one more rounding: `(k u mean)^2 u`.
const OF_MEAN: f64 = 1.0 / (1_u64 << 36) as f64;

pub(crate) fn variance_terms(input: &[f64], mut out: ArrayViewMut0<'_, f64>, correction: usize) {
    out[[]] = terms_of(input, correction);
}

pub(crate) fn variance_axis_terms(
    input: ArrayViewD<'_, f64>,
    out: ArrayViewMutD<'_, f64>,
    axis: usize,
    correction: usize,
) {
    fold(input, out, axis, |lane, _| terms_of(lane, correction));
}

fn terms_of(values: &[f64], correction: usize) -> f64 {
    let mean = mean_of(values);
    let of_mean = mean * OF_MEAN * mean * (values.len() as f64 / degrees(values, correction));
    variance_of(values, correction) + of_mean
}

/// The terms: the deviation, that of the others in the mean, and the error of the mean before its correction.
pub(crate) fn variance_backward_terms(
    input: &[f64],
    gradient: ArrayView0<'_, f64>,
    out: &mut [f64],
    correction: usize,
) {
    out.copy_from_slice(&gradient_terms(input, gradient[[]], correction));
}

pub(crate) fn variance_axis_backward_terms(
    input: ArrayViewD<'_, f64>,
    gradient: ArrayViewD<'_, f64>,
    out: ArrayViewMutD<'_, f64>,
    axis: usize,
    correction: usize,
) {
    map_two(input, gradient, out, axis, |lane, gradient| gradient_terms(lane, gradient[0], correction));
}

fn gradient_terms(values: &[f64], factor: f64, correction: usize) -> Vec<f64> {
    let mean = mean_of(values);
    let deviations = values.iter().map(|value| (value - mean).abs()).collect::<Vec<_>>();
    let rest = mean_of(&deviations) + mean.abs() / f64::from(1 << 16);
    let factor = (factor * 2.0).abs() / degrees(values, correction);
    deviations.iter().map(|deviation| (deviation + rest) * factor).collect()
}

fn degrees(values: &[f64], correction: usize) -> f64 {
    values.len().saturating_sub(correction) as f64
}

fn deviations(values: &[f64]) -> Vec<f64> {
    let mean = mean_of(values);
    let deviations = values.iter().map(|value| value - mean).collect::<Vec<_>>();
    let rest = mean_of(&deviations);
    deviations.into_iter().map(|deviation| deviation - rest).collect()
}

fn variance_of(values: &[f64], correction: usize) -> f64 {
    let mut squares = Sum::default();
    deviations(values).into_iter().for_each(|deviation| squares.add_product(deviation, deviation));
    let variance = squares.total() / degrees(values, correction);
    if variance.is_finite() || degrees(values, correction) == 0.0 {
        return variance;
    }
    // A deviation or the sum of the squares may have overflowed.
    let unit = 2.0_f64.powi(-600);
    let scaled = values.iter().map(|value| value * unit).collect::<Vec<_>>();
    let squares = sum_of(deviations(&scaled).into_iter().map(|deviation| deviation.powi(2)));
    squares / degrees(values, correction) / unit / unit
}

fn gradients(values: &[f64], factor: f64, correction: usize) -> Vec<f64> {
    let factor = factor * 2.0 / degrees(values, correction);
    deviations(values).into_iter().map(|deviation| deviation * factor).collect()
}
