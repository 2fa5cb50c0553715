//! Elements in the order of their values: the place of each is the number of those before it.

use ndarray::{ArrayViewD, ArrayViewMutD, Axis};

use crate::ops::SortOrder;

pub(crate) fn sort(
    input: ArrayViewD<'_, f64>,
    values: ArrayViewMutD<'_, f64>,
    indices: ArrayViewMutD<'_, u32>,
    axis: usize,
    order: SortOrder,
) {
    each(input, values, indices, axis, order == SortOrder::Descending);
}

pub(crate) fn top_k(
    input: ArrayViewD<'_, f64>,
    values: ArrayViewMutD<'_, f64>,
    indices: ArrayViewMutD<'_, u32>,
    count: usize,
    axis: usize,
) {
    assert_eq!(values.shape()[axis], count);
    each(input, values, indices, axis, true);
}

fn each(
    input: ArrayViewD<'_, f64>,
    mut values: ArrayViewMutD<'_, f64>,
    mut indices: ArrayViewMutD<'_, u32>,
    axis: usize,
    is_descending: bool,
) {
    let outputs = values.lanes_mut(Axis(axis)).into_iter().zip(indices.lanes_mut(Axis(axis)));
    for (line, (mut values, mut indices)) in input.lanes(Axis(axis)).into_iter().zip(outputs) {
        let is_larger = |a: f64, b: f64| a > b || (a.is_nan() && !b.is_nan());
        let comes_before = |i: usize, j: usize| {
            let (first, second) = if is_descending { (line[i], line[j]) } else { (line[j], line[i]) };
            is_larger(first, second) || (!is_larger(second, first) && i < j)
        };
        for i in 0..line.len() {
            let place = (0..line.len()).filter(|&j| comes_before(j, i)).count();
            if place < values.len() {
                (values[place], indices[place]) = (line[i], i as u32);
            }
        }
    }
}
