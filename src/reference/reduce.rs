//! Sums, means and extremes.

use ndarray::{ArrayViewD, ArrayViewMut0, ArrayViewMutD};

use super::lane::fold;
use super::sum::{mean_of, sum_of};

pub(crate) fn sum(input: &[f64], mut out: ArrayViewMut0<'_, f64>) {
    out[[]] = sum_of(input.iter().copied().chain([out[[]]]));
}

pub(crate) fn mean(input: &[f64], mut out: ArrayViewMut0<'_, f64>) {
    out[[]] = mean_of(input);
}

pub(crate) fn max(input: &[f64], mut out: ArrayViewMut0<'_, f64>) {
    out[[]] = input.iter().copied().fold(out[[]], larger);
}

pub(crate) fn min(input: &[f64], mut out: ArrayViewMut0<'_, f64>) {
    out[[]] = input.iter().copied().fold(out[[]], smaller);
}

pub(crate) fn sum_axis(input: ArrayViewD<'_, f64>, out: ArrayViewMutD<'_, f64>, axis: usize) {
    fold(input, out, axis, |lane, old| sum_of(lane.iter().copied().chain([old])));
}

pub(crate) fn mean_axis(input: ArrayViewD<'_, f64>, out: ArrayViewMutD<'_, f64>, axis: usize) {
    fold(input, out, axis, |lane, _| mean_of(lane));
}

pub(crate) fn max_axis(input: ArrayViewD<'_, f64>, out: ArrayViewMutD<'_, f64>, axis: usize) {
    fold(input, out, axis, |lane, old| lane.iter().copied().fold(old, larger));
}

pub(crate) fn min_axis(input: ArrayViewD<'_, f64>, out: ArrayViewMutD<'_, f64>, axis: usize) {
    fold(input, out, axis, |lane, old| lane.iter().copied().fold(old, smaller));
}

/// IEEE 754-2019 `maximum`.
pub(crate) fn larger(a: f64, b: f64) -> f64 {
    match () {
        () if a.is_nan() || b.is_nan() => f64::NAN,
        () if a == b && a.is_sign_negative() => b,
        () if a < b => b,
        () => a,
    }
}

/// IEEE 754-2019 `minimum`.
fn smaller(a: f64, b: f64) -> f64 {
    -larger(-a, -b)
}
