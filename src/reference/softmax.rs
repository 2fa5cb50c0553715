//! Softmax, its logarithm, their gradients, and the weight of rounding errors in them.
//!
//! `exp` turns a rounding error of its argument `x - largest` into one of `|x - largest|` times as many units in the
//! result. The weight of the errors in the sum is the mean of these, weighted by the probabilities. The functions
//! `.._terms` sum this.

use ndarray::{ArrayViewD, ArrayViewMutD};

use super::lane::{map, map_two};
use super::sum::sum_of;

pub(crate) fn softmax(input: ArrayViewD<'_, f64>, out: ArrayViewMutD<'_, f64>, axis: usize) {
    map(input, out, axis, probabilities);
}

pub(crate) fn softmax_terms(input: ArrayViewD<'_, f64>, out: ArrayViewMutD<'_, f64>, axis: usize) {
    map(input, out, axis, probability_terms);
}

pub(crate) fn log_softmax(input: ArrayViewD<'_, f64>, out: ArrayViewMutD<'_, f64>, axis: usize) {
    map(input, out, axis, logarithms);
}

pub(crate) fn log_softmax_terms(input: ArrayViewD<'_, f64>, out: ArrayViewMutD<'_, f64>, axis: usize) {
    map(input, out, axis, logarithm_terms);
}

/// Softmax of a line.
pub(crate) fn probabilities(lane: &[f64]) -> Vec<f64> {
    let powers = differences(lane).into_iter().map(f64::exp).collect::<Vec<_>>();
    let sum = sum_of(powers.iter().copied());
    powers.into_iter().map(|power| power / sum).collect()
}

/// The logarithm of softmax of a line.
pub(crate) fn logarithms(lane: &[f64]) -> Vec<f64> {
    let sum = rest(lane).ln_1p();
    differences(lane).into_iter().map(|difference| difference - sum).collect()
}

pub(crate) fn probability_terms(lane: &[f64]) -> Vec<f64> {
    let spread = spread(lane);
    let weigh =
        |(probability, difference): (f64, f64)| weighted(probability, 1.0 + difference.abs() + spread);
    probabilities(lane).into_iter().zip(differences(lane)).map(weigh).collect()
}

pub(crate) fn logarithm_terms(lane: &[f64]) -> Vec<f64> {
    let (spread, rest) = (spread(lane), rest(lane));
    // An error of the rest by a part of it is one of the logarithm by so much.
    let of_sum = rest.ln_1p() + rest / (1.0 + rest) + spread;
    differences(lane).into_iter().map(|difference| difference.abs() + of_sum).collect()
}

/// The sum of `exp(x - largest)` of all elements but one of the largest, whose term is 1.
fn rest(lane: &[f64]) -> f64 {
    let mut differences = differences(lane);
    if let Some(largest) = differences.iter().position(|difference| *difference == 0.0) {
        differences[largest] = f64::NEG_INFINITY;
    }
    sum_of(differences.into_iter().map(f64::exp))
}

/// The mean of `|x - largest|`, weighted by the probabilities.
fn spread(lane: &[f64]) -> f64 {
    sum_of(
        probabilities(lane)
            .into_iter()
            .zip(differences(lane))
            .map(|(p, difference)| weighted(p, difference.abs())),
    )
}

/// A probability of 0 has no weight, however far away the value is.
fn weighted(probability: f64, value: f64) -> f64 {
    if probability == 0.0 { 0.0 } else { probability * value }
}

fn differences(lane: &[f64]) -> Vec<f64> {
    let has_nan = lane.iter().any(|value| value.is_nan());
    let largest = lane.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    lane.iter().map(|value| if has_nan { f64::NAN } else { value - largest }).collect()
}

pub(crate) fn softmax_backward(
    output: ArrayViewD<'_, f64>,
    gradient: ArrayViewD<'_, f64>,
    out: ArrayViewMutD<'_, f64>,
    axis: usize,
) {
    map_two(output, gradient, out, axis, |output, gradient| {
        let sum = sum_of(output.iter().zip(gradient).map(|(output, gradient)| output * gradient));
        output.iter().zip(gradient).map(|(output, gradient)| output * (gradient - sum)).collect()
    });
}

pub(crate) fn softmax_backward_terms(
    output: ArrayViewD<'_, f64>,
    gradient: ArrayViewD<'_, f64>,
    out: ArrayViewMutD<'_, f64>,
    axis: usize,
) {
    map_two(output, gradient, out, axis, |output, gradient| {
        let sum = sum_of(output.iter().zip(gradient).map(|(output, gradient)| (output * gradient).abs()));
        output.iter().zip(gradient).map(|(output, gradient)| output.abs() * (gradient.abs() + sum)).collect()
    });
}

pub(crate) fn log_softmax_backward(
    output: ArrayViewD<'_, f64>,
    gradient: ArrayViewD<'_, f64>,
    out: ArrayViewMutD<'_, f64>,
    axis: usize,
) {
    map_two(output, gradient, out, axis, |output, gradient| {
        let sum = sum_of(gradient.iter().copied());
        output.iter().zip(gradient).map(|(output, gradient)| gradient - output.exp() * sum).collect()
    });
}

pub(crate) fn log_softmax_backward_terms(
    output: ArrayViewD<'_, f64>,
    gradient: ArrayViewD<'_, f64>,
    out: ArrayViewMutD<'_, f64>,
    axis: usize,
) {
    map_two(output, gradient, out, axis, |output, gradient| {
        let sum = sum_of(gradient.iter().map(|gradient| gradient.abs()));
        output.iter().zip(gradient).map(|(output, gradient)| gradient.abs() + output.exp() * sum).collect()
    });
}
