//! Where the extremes are.

use ndarray::{ArrayViewD, ArrayViewMutD};

use super::lane::fold;

pub(crate) fn arg_max(input: ArrayViewD<'_, f64>, out: ArrayViewMutD<'_, u32>, axis: usize) {
    fold(input, out, axis, |lane, _| place_of_largest(lane) as u32);
}

pub(crate) fn arg_min(input: ArrayViewD<'_, f64>, out: ArrayViewMutD<'_, u32>, axis: usize) {
    fold(input, out, axis, |lane, _| place_of_smallest(lane) as u32);
}

/// The index of the first NaN, or of the first of the largest values.
pub(crate) fn place_of_largest(values: &[f64]) -> usize {
    let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let place = values.iter().position(|value| value.is_nan());
    place.or(values.iter().position(|&value| value == largest)).unwrap_or(0)
}

/// The index of the first NaN, or of the first of the smallest values.
pub(crate) fn place_of_smallest(values: &[f64]) -> usize {
    place_of_largest(&values.iter().map(|value| -value).collect::<Vec<_>>())
}
