//! The sums of the elements so far.

use ndarray::{ArrayViewD, ArrayViewMutD};

use super::lane::map;
use super::sum::Sum;

pub(crate) fn cumulative_sum(input: ArrayViewD<'_, f64>, out: ArrayViewMutD<'_, f64>, axis: usize) {
    map(input, out, axis, |lane| sums(lane.iter()));
}

pub(crate) fn cumulative_sum_backward(
    gradient: ArrayViewD<'_, f64>,
    out: ArrayViewMutD<'_, f64>,
    axis: usize,
) {
    map(gradient, out, axis, |lane| {
        let mut sums = sums(lane.iter().rev());
        sums.reverse();
        sums
    });
}

fn sums<'a>(lane: impl Iterator<Item = &'a f64>) -> Vec<f64> {
    let mut sum = Sum::default();
    let so_far = lane.map(|value| {
        sum.add(*value);
        sum.total()
    });
    so_far.collect()
}
