//! Convolution and its gradients, one product after the other. Padding is zeros, which are multiplied like other
//! numbers.

use ndarray::{Array4, ArrayView4, ArrayViewMut4};

use super::sum::Sum;
use super::window::{Moves, pairs};
use crate::ops::Conv2dGeometry;

pub(crate) fn conv2d(
    input: ArrayView4<'_, f64>,
    filters: ArrayView4<'_, f64>,
    mut out: ArrayViewMut4<'_, f64>,
    geometry: Conv2dGeometry,
) {
    let (moves, (_, channels, rows, cols)) =
        (Moves { stride: geometry.stride, padding: geometry.padding }, input.dim());
    for ((image, filter, row, col), out) in out.indexed_iter_mut() {
        let mut sum = Sum::default();
        for channel in 0..channels {
            for tap in pairs([filters.dim().2, filters.dim().3]) {
                let pixel = moves.pixel([rows, cols], [row, col], tap);
                let pixel = pixel.map_or(0.0, |[row, col]| input[[image, channel, row, col]]);
                sum.add_product(pixel, filters[[filter, channel, tap[0], tap[1]]]);
            }
        }
        *out = sum.total();
    }
}

pub(crate) fn conv2d_backward_input(
    gradient: ArrayView4<'_, f64>,
    filters: ArrayView4<'_, f64>,
    mut out: ArrayViewMut4<'_, f64>,
    geometry: Conv2dGeometry,
) {
    let (moves, (_, channels, rows, cols)) =
        (Moves { stride: geometry.stride, padding: geometry.padding }, out.dim());
    let mut sums = Array4::from_elem(out.dim(), Sum::default());
    for ((image, filter, row, col), &gradient) in gradient.indexed_iter() {
        for channel in 0..channels {
            for tap in pairs([filters.dim().2, filters.dim().3]) {
                if let Some([row, col]) = moves.pixel([rows, cols], [row, col], tap) {
                    let factor = filters[[filter, channel, tap[0], tap[1]]];
                    sums[[image, channel, row, col]].add_product(gradient, factor);
                }
            }
        }
    }
    out.zip_mut_with(&sums, |out, sum| *out = sum.total());
}

pub(crate) fn conv2d_backward_filters(
    input: ArrayView4<'_, f64>,
    gradient: ArrayView4<'_, f64>,
    mut out: ArrayViewMut4<'_, f64>,
    geometry: Conv2dGeometry,
) {
    let (moves, (images, _, rows, cols)) =
        (Moves { stride: geometry.stride, padding: geometry.padding }, input.dim());
    for ((filter, channel, tap_row, tap_col), out) in out.indexed_iter_mut() {
        let mut sum = Sum::default();
        sum.add(*out);
        for image in 0..images {
            for [row, col] in pairs([gradient.dim().2, gradient.dim().3]) {
                let pixel = moves.pixel([rows, cols], [row, col], [tap_row, tap_col]);
                let pixel = pixel.map_or(0.0, |[row, col]| input[[image, channel, row, col]]);
                sum.add_product(pixel, gradient[[image, filter, row, col]]);
            }
        }
        *out = sum.total();
    }
}
