//! Pooling and its gradients, window by window.

use ndarray::{Array4, ArrayView4, ArrayViewMut4};

use super::sum::{Sum, sum_of};
use super::window::{Moves, pairs};
use crate::ops::Pool2dGeometry;

pub(crate) fn max_pool2d(
    input: ArrayView4<'_, f64>,
    mut out: ArrayViewMut4<'_, f64>,
    mut index: ArrayViewMut4<'_, u32>,
    geometry: Pool2dGeometry,
) {
    let Pool2dGeometry { size, stride, padding } = geometry;
    let (moves, (_, _, rows, cols)) = (Moves { stride, padding }, input.dim());
    for ((image, channel, row, col), out) in out.indexed_iter_mut() {
        let pixels = pairs(size).filter_map(|tap| moves.pixel([rows, cols], [row, col], tap));
        let value = |[row, col]: [usize; 2]| input[[image, channel, row, col]];
        // The first NaN, or the first of the largest.
        let best = pixels.reduce(|best, pixel| {
            let replaces = !value(best).is_nan() && (value(pixel).is_nan() || value(pixel) > value(best));
            if replaces { pixel } else { best }
        });
        let best = best.expect("a window covers a pixel");
        *out = value(best);
        index[[image, channel, row, col]] = (best[0] * cols + best[1]) as u32;
    }
}

pub(crate) fn max_pool2d_backward(
    gradient: ArrayView4<'_, f64>,
    index: ArrayView4<'_, u32>,
    mut out: ArrayViewMut4<'_, f64>,
) {
    let (mut sums, cols) = (Array4::from_elem(out.dim(), Sum::default()), out.dim().3);
    for ((image, channel, row, col), &gradient) in gradient.indexed_iter() {
        let pixel = index[[image, channel, row, col]] as usize;
        sums[[image, channel, pixel / cols, pixel % cols]].add(gradient);
    }
    out.zip_mut_with(&sums, |out, sum| *out = sum.total());
}

pub(crate) fn avg_pool2d(
    input: ArrayView4<'_, f64>,
    mut out: ArrayViewMut4<'_, f64>,
    geometry: Pool2dGeometry,
) {
    let Pool2dGeometry { size, stride, padding } = geometry;
    let (moves, (_, _, rows, cols)) = (Moves { stride, padding }, input.dim());
    for ((image, channel, row, col), out) in out.indexed_iter_mut() {
        let pixels = pairs(size).filter_map(|tap| moves.pixel([rows, cols], [row, col], tap));
        let sum = sum_of(pixels.map(|[row, col]| input[[image, channel, row, col]]));
        *out = sum / (size[0] * size[1]) as f64;
    }
}

pub(crate) fn avg_pool2d_backward(
    gradient: ArrayView4<'_, f64>,
    mut out: ArrayViewMut4<'_, f64>,
    geometry: Pool2dGeometry,
) {
    let Pool2dGeometry { size, stride, padding } = geometry;
    let (moves, (_, _, rows, cols)) = (Moves { stride, padding }, out.dim());
    let mut sums = Array4::from_elem(out.dim(), Sum::default());
    for ((image, channel, row, col), &gradient) in gradient.indexed_iter() {
        for [row, col] in pairs(size).filter_map(|tap| moves.pixel([rows, cols], [row, col], tap)) {
            sums[[image, channel, row, col]].add(gradient);
        }
    }
    out.zip_mut_with(&sums, |out, sum| *out = sum.total() / (size[0] * size[1]) as f64);
}
