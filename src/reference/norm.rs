//! Norms, of elements scaled by a power of two.

use ndarray::{ArrayView0, ArrayViewD, ArrayViewMut0, ArrayViewMutD};

use super::lane::{fold, map_two};
use super::sum::{Sum, sum_of};

pub(crate) fn norm(input: &[f64], mut out: ArrayViewMut0<'_, f64>) {
    out[[]] = norm_of(input);
}

pub(crate) fn norm_axis(input: ArrayViewD<'_, f64>, out: ArrayViewMutD<'_, f64>, axis: usize) {
    fold(input, out, axis, |lane, _| norm_of(lane));
}

pub(crate) fn norm_l1(input: &[f64], mut out: ArrayViewMut0<'_, f64>) {
    out[[]] = sum_of(input.iter().map(|value| value.abs()).chain([out[[]]]));
}

pub(crate) fn norm_l1_axis(input: ArrayViewD<'_, f64>, out: ArrayViewMutD<'_, f64>, axis: usize) {
    fold(input, out, axis, |lane, old| sum_of(lane.iter().map(|value| value.abs()).chain([old])));
}

pub(crate) fn norm_backward(input: &[f64], gradient: ArrayView0<'_, f64>, out: &mut [f64]) {
    out.copy_from_slice(&gradients(input, gradient[[]]));
}

pub(crate) fn norm_axis_backward(
    input: ArrayViewD<'_, f64>,
    gradient: ArrayViewD<'_, f64>,
    out: ArrayViewMutD<'_, f64>,
    axis: usize,
) {
    map_two(input, gradient, out, axis, |lane, gradient| gradients(lane, gradient[0]));
}

/// A power of two that scales the largest value to about one, so that squares neither overflow nor underflow.
fn unit_of(values: &[f64]) -> f64 {
    let largest = values.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    match largest {
        _ if largest > 2.0_f64.powi(400) => 2.0_f64.powi(-600),
        _ if largest < 2.0_f64.powi(-400) => 2.0_f64.powi(600),
        _ => 1.0,
    }
}

fn norm_of(values: &[f64]) -> f64 {
    let unit = unit_of(values);
    let mut squares = Sum::default();
    values.iter().for_each(|value| squares.add_product(value * unit, value * unit));
    squares.total().sqrt() / unit
}

fn gradients(values: &[f64], factor: f64) -> Vec<f64> {
    let norm = norm_of(values);
    // A norm that is subnormal or overflows has too few digits.
    let unit = if norm.is_normal() { 1.0 } else { unit_of(values) };
    let values = values.iter().map(|value| value * unit).collect::<Vec<_>>();
    let norm = norm_of(&values);
    values.iter().map(|value| if norm == 0.0 { 0.0 } else { value / norm * factor }).collect()
}
