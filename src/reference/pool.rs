//! Pooling over any number of axes and its gradients, window by window.

use ndarray::{ArrayD, ArrayViewD, ArrayViewMutD, Dimension, IxDyn};

use super::sum::{Sum, sum_of};
use crate::cpu::philox::uniform_pair;
use crate::ops::{Philox, PoolGeometry};

/// The elements under the window at one position along one axis, in order, and by how many a sum is divided.
type Along = (Vec<usize>, usize);

/// The indices under a window of a volume, and by how many a sum is divided.
type Under = (Vec<IxDyn>, f64);

fn of_geometry<const D: usize>(
    geometry: PoolGeometry<D>,
    axis: usize,
    extent: usize,
    position: usize,
) -> Along {
    let PoolGeometry { size, stride, padding, dilation, count_padding, .. } = geometry;
    let padded = (0..size[axis]).map(|tap| position * stride[axis] + tap * dilation[axis]);
    let counted = padded.clone().filter(|place| *place < extent + 2 * padding[axis]).count();
    let inside: Vec<_> =
        padded.filter_map(|place| place.checked_sub(padding[axis])).filter(|place| *place < extent).collect();
    let divisor = if count_padding { counted } else { inside.len() };
    (inside, divisor)
}

fn adaptive(extent: usize, positions: usize, position: usize) -> Along {
    let start = (position as f64 * extent as f64 / positions as f64).floor() as usize;
    let end = ((position + 1) as f64 * extent as f64 / positions as f64).ceil() as usize;
    ((start..end).collect(), end - start)
}

/// What is under the window at an index of the output, for a function that gives it along one axis.
fn under(at: &IxDyn, along: impl Fn(usize, usize) -> Along) -> Under {
    let first = IxDyn(&[at[0], at[1]]);
    let (places, divisor) = (2..at.ndim()).fold((vec![first], 1.0), |(places, divisor), axis| {
        let (inside, count) = along(axis - 2, at[axis]);
        let each = |place: &IxDyn| {
            let place = place.slice().to_vec();
            inside.iter().map(move |&index| IxDyn(&[&place[..], &[index]].concat())).collect::<Vec<_>>()
        };
        (places.iter().flat_map(each).collect(), divisor * count as f64)
    });
    (places, divisor)
}

fn max(
    input: ArrayViewD<'_, f64>,
    mut out: ArrayViewMutD<'_, f64>,
    mut index: ArrayViewMutD<'_, u32>,
    along: impl Fn(&IxDyn, usize, usize) -> Along,
) {
    for (at, out) in out.indexed_iter_mut() {
        let (places, _) = under(&at, |axis, position| along(&at, axis, position));
        // The first NaN, or the first of the largest.
        let best = places.into_iter().reduce(|best, place| {
            let (old, new) = (input[&best], input[&place]);
            if !old.is_nan() && (new.is_nan() || new > old) { place } else { best }
        });
        let best = best.expect("a window covers an element");
        *out = input[&best];
        let axes = best.slice().iter().zip(input.shape()).skip(2);
        index[at] = axes.fold(0, |number, (place, extent)| number * extent + place) as u32;
    }
}

fn mean(input: ArrayViewD<'_, f64>, mut out: ArrayViewMutD<'_, f64>, along: impl Fn(usize, usize) -> Along) {
    for (at, out) in out.indexed_iter_mut() {
        let (places, divisor) = under(&at, &along);
        *out = sum_of(places.iter().map(|place| input[place])) / divisor;
    }
}

fn mean_backward(
    gradient: ArrayViewD<'_, f64>,
    mut out: ArrayViewMutD<'_, f64>,
    along: impl Fn(usize, usize) -> Along,
) {
    let mut sums = ArrayD::from_elem(out.raw_dim(), Sum::default());
    for (at, gradient) in gradient.indexed_iter() {
        let (places, divisor) = under(&at, &along);
        places.iter().for_each(|place| sums[place].add(gradient / divisor));
    }
    out.zip_mut_with(&sums, |out, sum| *out = sum.total());
}

pub(crate) fn max_pool<const D: usize>(
    input: ArrayViewD<'_, f64>,
    out: ArrayViewMutD<'_, f64>,
    index: ArrayViewMutD<'_, u32>,
    geometry: PoolGeometry<D>,
) {
    let shape = input.shape().to_vec();
    max(input, out, index, |_, axis, position| of_geometry(geometry, axis, shape[axis + 2], position));
}

/// Windows whose distances are random, by the same random numbers.
pub(crate) fn fractional_max_pool<const D: usize>(
    input: ArrayViewD<'_, f64>,
    out: ArrayViewMutD<'_, f64>,
    index: ArrayViewMutD<'_, u32>,
    size: [usize; D],
    extents: [usize; D],
    numbers: Philox,
) {
    let shape = input.shape().to_vec();
    max(input, out, index, |at, axis, position| {
        let plane = at[0] * shape[1] + at[1];
        let number = numbers.offset + (plane * D + axis) as u64;
        let uniform = uniform_pair(numbers.seed, number / 2)[(number % 2) as usize];
        let last = shape[axis + 2] - size[axis];
        let start = if position + 1 == extents[axis] {
            last
        } else {
            let distance = last as f64 / (extents[axis] - 1) as f64;
            (((position as f64 + uniform) * distance).floor() - (uniform * distance).floor()) as usize
        };
        ((start..start + size[axis]).collect(), size[axis])
    });
}

pub(crate) fn max_pool_backward<const D: usize>(
    gradient: ArrayViewD<'_, f64>,
    index: ArrayViewD<'_, u32>,
    mut out: ArrayViewMutD<'_, f64>,
    extents: [usize; D],
) {
    let mut sums = ArrayD::from_elem(out.raw_dim(), Sum::default());
    for (at, &gradient) in gradient.indexed_iter() {
        let mut place = IxDyn(&[&[at[0], at[1]], &extents[..]].concat());
        let mut number = index[&at] as usize;
        for axis in (0..D).rev() {
            place[axis + 2] = number % extents[axis];
            number /= extents[axis];
        }
        sums[place].add(gradient);
    }
    out.zip_mut_with(&sums, |out, sum| *out = sum.total());
}

pub(crate) fn avg_pool<const D: usize>(
    input: ArrayViewD<'_, f64>,
    out: ArrayViewMutD<'_, f64>,
    geometry: PoolGeometry<D>,
) {
    let shape = input.shape().to_vec();
    mean(input, out, |axis, position| of_geometry(geometry, axis, shape[axis + 2], position));
}

pub(crate) fn avg_pool_backward<const D: usize>(
    gradient: ArrayViewD<'_, f64>,
    out: ArrayViewMutD<'_, f64>,
    geometry: PoolGeometry<D>,
) {
    let shape = out.shape().to_vec();
    mean_backward(gradient, out, |axis, position| of_geometry(geometry, axis, shape[axis + 2], position));
}

pub(crate) fn adaptive_max_pool<const D: usize>(
    input: ArrayViewD<'_, f64>,
    out: ArrayViewMutD<'_, f64>,
    index: ArrayViewMutD<'_, u32>,
    extents: [usize; D],
) {
    let shape = input.shape().to_vec();
    max(input, out, index, |_, axis, position| adaptive(shape[axis + 2], extents[axis], position));
}

pub(crate) fn adaptive_avg_pool<const D: usize>(
    input: ArrayViewD<'_, f64>,
    out: ArrayViewMutD<'_, f64>,
    extents: [usize; D],
) {
    let shape = input.shape().to_vec();
    mean(input, out, |axis, position| adaptive(shape[axis + 2], extents[axis], position));
}

pub(crate) fn adaptive_avg_pool_backward<const D: usize>(
    gradient: ArrayViewD<'_, f64>,
    out: ArrayViewMutD<'_, f64>,
    extents: [usize; D],
) {
    let shape = out.shape().to_vec();
    mean_backward(gradient, out, |axis, position| adaptive(shape[axis + 2], extents[axis], position));
}
