//! Sampling at other spatial extents: the weight of each element in each result.

use ndarray::{ArrayD, ArrayViewD, ArrayViewMutD, Dimension, IxDyn};

use super::sum::Sum;

/// The elements of an input that have a weight in an element of the output, and the weights.
fn weights(input: &[usize], at: &IxDyn, along: impl Fn(usize, usize, usize) -> f64) -> Vec<(IxDyn, f64)> {
    let first = (at.slice()[..2].to_vec(), 1.0);
    let all = (2..input.len()).fold(vec![first], |found, axis| {
        let each = |(place, weight): &(Vec<usize>, f64)| {
            let along = (0..input[axis]).map(|index| (index, along(axis - 2, at[axis], index)));
            let further = along.filter(|(_, along)| *along > 0.0);
            further
                .map(|(index, along)| ([&place[..], &[index]].concat(), weight * along))
                .collect::<Vec<_>>()
        };
        found.iter().flat_map(each).collect()
    });
    all.into_iter().map(|(place, weight)| (IxDyn(&place), weight)).collect()
}

fn sample(
    input: ArrayViewD<'_, f64>,
    mut out: ArrayViewMutD<'_, f64>,
    along: impl Fn(usize, usize, usize) -> f64,
) {
    for (at, out) in out.indexed_iter_mut() {
        let mut sum = Sum::default();
        for (place, weight) in weights(input.shape(), &at, &along) {
            sum.add_product(input[place], weight);
        }
        *out = sum.total();
    }
}

fn sample_backward(
    gradient: ArrayViewD<'_, f64>,
    mut out: ArrayViewMutD<'_, f64>,
    along: impl Fn(usize, usize, usize) -> f64,
) {
    let mut sums = ArrayD::from_elem(out.raw_dim(), Sum::default());
    for (at, gradient) in gradient.indexed_iter() {
        for (place, weight) in weights(out.shape(), &at, &along) {
            sums[place].add_product(*gradient, weight);
        }
    }
    out.zip_mut_with(&sums, |out, sum| *out = sum.total());
}

fn nearest<const D: usize>(
    input: &[usize],
    extents: [usize; D],
) -> impl Fn(usize, usize, usize) -> f64 + use<D> {
    let input = input.to_vec();
    move |axis, point, index| f64::from(u8::from(point * input[axis + 2] / extents[axis] == index))
}

/// The distance of a point from an element, as a fraction, whose weight is what is left of 1.
fn linear<const D: usize>(
    input: &[usize],
    extents: [usize; D],
    align_corners: bool,
) -> impl Fn(usize, usize, usize) -> f64 + use<D> {
    let input = input.to_vec();
    move |axis, point, index| {
        let (extent, count) = (input[axis + 2] as i64, extents[axis] as i64);
        let (point, index) = (point as i64, index as i64);
        let (place, whole) = match align_corners {
            true if count == 1 => (0, 1),
            true => (point * (extent - 1), count - 1),
            false => ((2 * point + 1) * extent - count, 2 * count),
        };
        let distance = (place.clamp(0, (extent - 1) * whole) - index * whole).abs();
        (whole - distance).max(0) as f64 / whole as f64
    }
}

pub(crate) fn upsample_nearest<const D: usize>(
    input: ArrayViewD<'_, f64>,
    mut out: ArrayViewMutD<'_, f64>,
    extents: [usize; D],
) {
    for (mut at, out) in out.indexed_iter_mut() {
        for (axis, points) in extents.iter().enumerate() {
            at[axis + 2] = at[axis + 2] * input.shape()[axis + 2] / points;
        }
        *out = input[at];
    }
}

pub(crate) fn upsample_nearest_backward<const D: usize>(
    gradient: ArrayViewD<'_, f64>,
    out: ArrayViewMutD<'_, f64>,
    extents: [usize; D],
) {
    let along = nearest(out.shape(), extents);
    sample_backward(gradient, out, along);
}

pub(crate) fn upsample_linear<const D: usize>(
    input: ArrayViewD<'_, f64>,
    out: ArrayViewMutD<'_, f64>,
    extents: [usize; D],
    align_corners: bool,
) {
    let along = linear(input.shape(), extents, align_corners);
    sample(input, out, along);
}

pub(crate) fn upsample_linear_backward<const D: usize>(
    gradient: ArrayViewD<'_, f64>,
    out: ArrayViewMutD<'_, f64>,
    extents: [usize; D],
    align_corners: bool,
) {
    let along = linear(out.shape(), extents, align_corners);
    sample_backward(gradient, out, along);
}
