//! The gradients of sums, means and extremes.

use ndarray::{ArrayView0, ArrayViewD, ArrayViewMutD, Axis};

use super::arg_extreme::{place_of_largest, place_of_smallest};
use super::lane::map_two;

pub(crate) fn sum_backward(gradient: ArrayView0<'_, f64>, mut out: ArrayViewMutD<'_, f64>) {
    out.fill(gradient[[]]);
}

pub(crate) fn mean_backward(gradient: ArrayView0<'_, f64>, mut out: ArrayViewMutD<'_, f64>) {
    let count = out.len() as f64;
    out.fill(gradient[[]] / count);
}

pub(crate) fn sum_axis_backward(gradient: ArrayViewD<'_, f64>, mut out: ArrayViewMutD<'_, f64>, axis: usize) {
    for mut slice in out.axis_iter_mut(Axis(axis)) {
        slice.assign(&gradient.index_axis(Axis(axis), 0));
    }
}

pub(crate) fn mean_axis_backward(
    gradient: ArrayViewD<'_, f64>,
    mut out: ArrayViewMutD<'_, f64>,
    axis: usize,
) {
    let count = out.shape()[axis] as f64;
    sum_axis_backward(gradient, out.view_mut(), axis);
    out.mapv_inplace(|gradient| gradient / count);
}

pub(crate) fn max_backward(input: &[f64], gradient: ArrayView0<'_, f64>, out: &mut [f64]) {
    let place = place_of_largest(input);
    out.iter_mut().enumerate().for_each(|(i, out)| *out = if i == place { gradient[[]] } else { 0.0 });
}

pub(crate) fn min_backward(input: &[f64], gradient: ArrayView0<'_, f64>, out: &mut [f64]) {
    let place = place_of_smallest(input);
    out.iter_mut().enumerate().for_each(|(i, out)| *out = if i == place { gradient[[]] } else { 0.0 });
}

pub(crate) fn max_axis_backward(
    input: ArrayViewD<'_, f64>,
    gradient: ArrayViewD<'_, f64>,
    out: ArrayViewMutD<'_, f64>,
    axis: usize,
) {
    map_two(input, gradient, out, axis, |lane, gradient| {
        only_at(place_of_largest(lane), lane.len(), gradient[0])
    });
}

pub(crate) fn min_axis_backward(
    input: ArrayViewD<'_, f64>,
    gradient: ArrayViewD<'_, f64>,
    out: ArrayViewMutD<'_, f64>,
    axis: usize,
) {
    map_two(input, gradient, out, axis, |lane, gradient| {
        only_at(place_of_smallest(lane), lane.len(), gradient[0])
    });
}

fn only_at(place: usize, count: usize, value: f64) -> Vec<f64> {
    (0..count).map(|i| if i == place { value } else { 0.0 }).collect()
}
