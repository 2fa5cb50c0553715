//! A vector added along an axis, and its gradient.

use ndarray::{ArrayView1, ArrayViewD, ArrayViewMut1, ArrayViewMutD, Axis};

use super::sum::sum_of;

pub(crate) fn bias(
    input: ArrayViewD<'_, f64>,
    bias: ArrayView1<'_, f64>,
    mut out: ArrayViewMutD<'_, f64>,
    axis: usize,
) {
    out.assign(&input);
    for (mut out, &bias) in out.axis_iter_mut(Axis(axis)).zip(bias) {
        out.mapv_inplace(|input| input + bias);
    }
}

pub(crate) fn bias_backward(gradient: ArrayViewD<'_, f64>, mut out: ArrayViewMut1<'_, f64>, axis: usize) {
    for (gradient, out) in gradient.axis_iter(Axis(axis)).zip(&mut out) {
        *out = sum_of(gradient.iter().copied().chain([*out]));
    }
}
