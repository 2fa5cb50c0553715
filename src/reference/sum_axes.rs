//! Sums along several axes.

use ndarray::{ArrayViewD, ArrayViewMutD, Dimension as _};

use super::sum::Sum;
use crate::ops::Axes;

pub(crate) fn sum_axes(input: ArrayViewD<'_, f64>, mut out: ArrayViewMutD<'_, f64>, axes: Axes) {
    let mut sums = out.mapv(|_| Sum::default());
    for (index, &value) in input.indexed_iter() {
        sums[summed(index.slice(), axes).as_slice()].add(value);
    }
    for (out, mut sum) in out.iter_mut().zip(sums) {
        sum.add(*out);
        *out = sum.total();
    }
}

pub(crate) fn sum_axes_backward(gradient: ArrayViewD<'_, f64>, mut out: ArrayViewMutD<'_, f64>, axes: Axes) {
    for (index, out) in out.indexed_iter_mut() {
        *out = gradient[summed(index.slice(), axes).as_slice()];
    }
}

/// Where the sum is that the element at `index` belongs to.
fn summed(index: &[usize], axes: Axes) -> Vec<usize> {
    index.iter().enumerate().map(|(axis, &at)| if axes.contains(axis) { 0 } else { at }).collect()
}
