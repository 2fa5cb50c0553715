//! The lanes of an array along an axis, one at a time.

use ndarray::{ArrayViewD, ArrayViewMutD, Axis};

/// `out[.., 0, ..] = f(lane, out[.., 0, ..])` for each line of `input` along `axis`.
pub(crate) fn fold<T: Copy>(
    input: ArrayViewD<'_, f64>,
    mut out: ArrayViewMutD<'_, T>,
    axis: usize,
    f: impl Fn(&[f64], T) -> T,
) {
    let lanes = input.lanes(Axis(axis)).into_iter().zip(out.lanes_mut(Axis(axis)));
    for (lane, mut out) in lanes {
        out[0] = f(&lane.to_vec(), out[0]);
    }
}

/// `out[.., i, ..] = f(lane)[i]` for each line of `input` along `axis`.
pub(crate) fn map(
    input: ArrayViewD<'_, f64>,
    mut out: ArrayViewMutD<'_, f64>,
    axis: usize,
    f: impl Fn(&[f64]) -> Vec<f64>,
) {
    let lanes = input.lanes(Axis(axis)).into_iter().zip(out.lanes_mut(Axis(axis)));
    for (lane, mut out) in lanes {
        out.iter_mut().zip(f(&lane.to_vec())).for_each(|(out, value)| *out = value);
    }
}

/// `out[.., i, ..] = f(a's lane, b's lane)[i]` for each line of `a` and `b` along `axis`.
pub(crate) fn map_two(
    a: ArrayViewD<'_, f64>,
    b: ArrayViewD<'_, f64>,
    mut out: ArrayViewMutD<'_, f64>,
    axis: usize,
    f: impl Fn(&[f64], &[f64]) -> Vec<f64>,
) {
    let inputs = a.lanes(Axis(axis)).into_iter().zip(b.lanes(Axis(axis)));
    for ((a, b), mut out) in inputs.zip(out.lanes_mut(Axis(axis))) {
        out.iter_mut().zip(f(&a.to_vec(), &b.to_vec())).for_each(|(out, value)| *out = value);
    }
}
