//! Operations that only move elements: each element of the result is found by its index.

use ndarray::{ArrayView1, ArrayView2, ArrayViewD, ArrayViewMut1, ArrayViewMut2, ArrayViewMutD, IxDyn};

use crate::ops::AxisOrder;

pub(crate) fn copy(input: ArrayViewD<'_, f64>, out: ArrayViewMutD<'_, f64>) {
    each(out, |at| input[at]);
}

pub(crate) fn cast(input: &[f64], out: &mut [f64]) {
    out.iter_mut().zip(input).for_each(|(out, input)| *out = *input);
}

pub(crate) fn fill(out: &mut [f64], value: f64) {
    out.iter_mut().for_each(|out| *out = value);
}

pub(crate) fn transpose(input: ArrayView2<'_, f64>, mut out: ArrayViewMut2<'_, f64>) {
    for ((i, j), out) in out.indexed_iter_mut() {
        *out = input[[j, i]];
    }
}

pub(crate) fn one_hot(labels: ArrayView1<'_, f64>, mut out: ArrayViewMut2<'_, f64>, classes: usize) {
    assert_eq!(out.ncols(), classes);
    for ((row, class), out) in out.indexed_iter_mut() {
        *out = if labels[row] == class as f64 { 1.0 } else { 0.0 };
    }
}

pub(crate) fn rotate_180(input: ArrayViewD<'_, f64>, out: ArrayViewMutD<'_, f64>) {
    let shape = input.shape();
    let axes = [shape.len() - 2, shape.len() - 1];
    each(out, |mut at| {
        axes.iter().for_each(|&axis| at[axis] = shape[axis] - 1 - at[axis]);
        input[at]
    });
}

pub(crate) fn diag(input: ArrayView1<'_, f64>, mut out: ArrayViewMut2<'_, f64>) {
    for ((i, j), out) in out.indexed_iter_mut() {
        *out = if i == j { input[i] } else { 0.0 };
    }
}

/// The gradient of the diagonal.
pub(crate) fn diagonal_backward(gradient: ArrayView1<'_, f64>, mut out: ArrayViewMut2<'_, f64>) {
    for ((i, j), out) in out.indexed_iter_mut() {
        *out = if i == j { gradient[i] } else { 0.0 };
    }
}

pub(crate) fn diagonal(input: ArrayView2<'_, f64>, mut out: ArrayViewMut1<'_, f64>) {
    for (i, out) in out.indexed_iter_mut() {
        *out = input[[i, i]];
    }
}

pub(crate) fn slice(
    input: ArrayViewD<'_, f64>,
    out: ArrayViewMutD<'_, f64>,
    axis: usize,
    start: usize,
    _len: usize,
) {
    each(out, |mut at| {
        at[axis] += start;
        input[at]
    });
}

pub(crate) fn slice_backward(
    gradient: ArrayViewD<'_, f64>,
    out: ArrayViewMutD<'_, f64>,
    axis: usize,
    start: usize,
) {
    each(out, |mut at| {
        let place = at[axis].checked_sub(start).filter(|&place| place < gradient.shape()[axis]);
        place.map_or(0.0, |place| {
            at[axis] = place;
            gradient[at]
        })
    });
}

pub(crate) fn tile(input: ArrayViewD<'_, f64>, out: ArrayViewMutD<'_, f64>, axis: usize, _repeats: usize) {
    each(out, |mut at| {
        at[axis] %= input.shape()[axis];
        input[at]
    });
}

pub(crate) fn gather_rows(
    input: ArrayViewD<'_, f64>,
    indices: ArrayView1<'_, u32>,
    out: ArrayViewMutD<'_, f64>,
) {
    index_select(input, indices, out, 0);
}

pub(crate) fn gather(
    input: ArrayViewD<'_, f64>,
    index: ArrayViewD<'_, u32>,
    out: ArrayViewMutD<'_, f64>,
    axis: usize,
) {
    each(out, |mut at| {
        at[axis] = index[at.clone()] as usize;
        input[at]
    });
}

pub(crate) fn index_select(
    input: ArrayViewD<'_, f64>,
    indices: ArrayView1<'_, u32>,
    out: ArrayViewMutD<'_, f64>,
    axis: usize,
) {
    each(out, |mut at| {
        at[axis] = indices[at[axis]] as usize;
        input[at]
    });
}

pub(crate) fn permute(input: ArrayViewD<'_, f64>, out: ArrayViewMutD<'_, f64>, axes: AxisOrder) {
    each(out, |at| {
        let mut from = at.clone();
        axes.axes().iter().enumerate().for_each(|(axis, &place)| from[place] = at[axis]);
        input[from]
    });
}

/// `out[at] = value(at)` for each index.
fn each(mut out: ArrayViewMutD<'_, f64>, value: impl Fn(IxDyn) -> f64) {
    out.indexed_iter_mut().for_each(|(at, out)| *out = value(at));
}
