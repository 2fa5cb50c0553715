//! Convolution with bias, rectifier and pooling: the references of each, one after the other.

use ndarray::{Array4, ArrayView1, ArrayView4, ArrayViewMut1, ArrayViewMut4};

use super::conv2d::{conv2d as convolve, conv2d_backward_filters};
use super::sum::Sum;
use crate::ops::{Conv2dGeometry, Conv2dPoolGeometry};

/// The convolution's output with the bias added.
fn sums(
    input: ArrayView4<'_, f64>,
    filters: ArrayView4<'_, f64>,
    bias: ArrayView1<'_, f64>,
    padding: [usize; 2],
) -> Array4<f64> {
    let (batch, _, rows, cols) = input.dim();
    let (channels, _, kernel_rows, kernel_cols) = filters.dim();
    let shape =
        [batch, channels, rows + 2 * padding[0] + 1 - kernel_rows, cols + 2 * padding[1] + 1 - kernel_cols];
    let mut out = Array4::zeros(shape);
    convolve(input, filters, out.view_mut(), Conv2dGeometry::default().padding(padding));
    for ((_, channel, _, _), out) in out.indexed_iter_mut() {
        *out += bias[channel];
    }
    out
}

fn rectified(sum: f64) -> f64 {
    if sum <= 0.0 { 0.0 } else { sum }
}

pub(crate) fn conv2d_relu(
    input: ArrayView4<'_, f64>,
    filters: ArrayView4<'_, f64>,
    bias: ArrayView1<'_, f64>,
    mut out: ArrayViewMut4<'_, f64>,
    padding: [usize; 2],
) {
    out.zip_mut_with(&sums(input, filters, bias, padding), |out, &sum| *out = rectified(sum));
}

pub(crate) fn conv2d_relu_max_pool2d(
    input: ArrayView4<'_, f64>,
    filters: ArrayView4<'_, f64>,
    bias: ArrayView1<'_, f64>,
    mut out: ArrayViewMut4<'_, f64>,
    mut index: ArrayViewMut4<'_, u32>,
    geometry: Conv2dPoolGeometry,
) {
    let Conv2dPoolGeometry { padding, size } = geometry;
    let sums = sums(input, filters, bias, padding);
    for ((image, channel, row, col), out) in out.indexed_iter_mut() {
        let window = (0..size[0]).flat_map(|down| (0..size[1]).map(move |right| [down, right]));
        let places = window.map(|[down, right]| [row * size[0] + down, col * size[1] + right]);
        let mut best: Option<([usize; 2], f64)> = None;
        for place in places {
            let sum = sums[[image, channel, place[0], place[1]]];
            if best.is_none_or(|(_, best)| !best.is_nan() && (sum > best || sum.is_nan())) {
                best = Some((place, sum));
            }
        }
        let (place, sum) = best.expect("a window has elements");
        *out = rectified(sum);
        index[[image, channel, row, col]] = (place[0] * sums.dim().3 + place[1]) as u32;
    }
}

/// The gradient that passes ReLU.
fn passed(output: f64, gradient: f64) -> f64 {
    if output <= 0.0 { 0.0 } else { gradient }
}

/// Adds the gradient that passes, over each channel.
fn add_passed(
    gradient: ArrayView4<'_, f64>,
    output: ArrayView4<'_, f64>,
    mut by_bias: ArrayViewMut1<'_, f64>,
) {
    for (channel, total) in by_bias.iter_mut().enumerate() {
        let mut sum = Sum::default();
        sum.add(*total);
        for ((image, of, row, col), &gradient) in gradient.indexed_iter() {
            if of == channel {
                sum.add(passed(output[[image, of, row, col]], gradient));
            }
        }
        *total = sum.total();
    }
}

pub(crate) fn conv2d_relu_backward(
    input: ArrayView4<'_, f64>,
    gradient: ArrayView4<'_, f64>,
    output: ArrayView4<'_, f64>,
    by_filters: ArrayViewMut4<'_, f64>,
    by_bias: ArrayViewMut1<'_, f64>,
    padding: [usize; 2],
) {
    add_passed(gradient, output, by_bias);
    let by_sums = Array4::from_shape_fn(gradient.dim(), |place| passed(output[place], gradient[place]));
    conv2d_backward_filters(input, by_sums.view(), by_filters, Conv2dGeometry::default().padding(padding));
}

pub(crate) fn bias_relu_max_pool2d_backward(
    gradient: ArrayView4<'_, f64>,
    output: ArrayView4<'_, f64>,
    index: ArrayView4<'_, u32>,
    mut out: ArrayViewMut4<'_, f64>,
    by_bias: ArrayViewMut1<'_, f64>,
) {
    add_passed(gradient, output, by_bias);
    out.fill(0.0);
    let cols = out.dim().3;
    for ((image, channel, row, col), &gradient) in gradient.indexed_iter() {
        let place = index[[image, channel, row, col]] as usize;
        out[[image, channel, place / cols, place % cols]] =
            passed(output[[image, channel, row, col]], gradient);
    }
}

pub(crate) fn conv2d_relu_max_pool2d_backward(
    input: ArrayView4<'_, f64>,
    gradient: ArrayView4<'_, f64>,
    output: ArrayView4<'_, f64>,
    index: ArrayView4<'_, u32>,
    by_filters: ArrayViewMut4<'_, f64>,
    by_bias: ArrayViewMut1<'_, f64>,
    geometry: Conv2dPoolGeometry,
) {
    let padding = geometry.padding;
    let (batch, _, rows, cols) = input.dim();
    let (channels, _, kernel_rows, kernel_cols) = by_filters.dim();
    let shape =
        [batch, channels, rows + 2 * padding[0] + 1 - kernel_rows, cols + 2 * padding[1] + 1 - kernel_cols];
    let mut by_sums = Array4::zeros(shape);
    bias_relu_max_pool2d_backward(gradient, output, index, by_sums.view_mut(), by_bias);
    conv2d_backward_filters(input, by_sums.view(), by_filters, Conv2dGeometry::default().padding(padding));
}
