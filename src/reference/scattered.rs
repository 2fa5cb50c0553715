//! The gradients of gathering and tiling, which sum moved elements.

use ndarray::{ArrayD, ArrayView1, ArrayViewD, ArrayViewMutD, IxDyn};

use super::sum::Sum;

pub(crate) fn gather_backward(
    gradient: ArrayViewD<'_, f64>,
    index: ArrayViewD<'_, u32>,
    out: ArrayViewMutD<'_, f64>,
    axis: usize,
) {
    scatter(gradient, out, |mut at| {
        at[axis] = index[at.clone()] as usize;
        at
    });
}

pub(crate) fn index_select_backward(
    gradient: ArrayViewD<'_, f64>,
    indices: ArrayView1<'_, u32>,
    out: ArrayViewMutD<'_, f64>,
    axis: usize,
) {
    scatter(gradient, out, |mut at| {
        at[axis] = indices[at[axis]] as usize;
        at
    });
}

pub(crate) fn tile_backward(
    gradient: ArrayViewD<'_, f64>,
    mut out: ArrayViewMutD<'_, f64>,
    axis: usize,
    _repeats: usize,
) {
    out.fill(0.0);
    let extent = out.shape()[axis];
    scatter(gradient, out, |mut at| {
        at[axis] %= extent;
        at
    });
}

/// `out[place(at)] += values[at]` for each index.
fn scatter(values: ArrayViewD<'_, f64>, mut out: ArrayViewMutD<'_, f64>, place: impl Fn(IxDyn) -> IxDyn) {
    let mut sums = ArrayD::from_elem(out.raw_dim(), Sum::default());
    sums.zip_mut_with(&out, |sum, old| sum.add(*old));
    values.indexed_iter().for_each(|(at, value)| sums[place(at)].add(*value));
    out.zip_mut_with(&sums, |out, sum| *out = sum.total());
}
