//! [`conv2d_relu`]: convolution with bias and rectifier in one task, and with pooling; and their gradients.
//!
//! The results are those of [`conv2d`](super::conv2d()), [`bias`](super::bias()), [`relu`](super::relu()) and
//! [`max_pool2d`](super::max_pool2d()) one after the other, except that sums begin with the bias, and half-precision
//! types round once, at the end. The stride is one; `padding` is `[rows, cols]`, zeros on both sides. Windows of `size`
//! do not overlap.

use dahl::ndarray::{ArrayView1, ArrayView4, ArrayViewMut1, ArrayViewMut4};
use dahl::prelude::*;

use super::conv2d::{fits, kernel_of};
use super::geometry::Conv2dPoolGeometry;
use crate::cpu::conv2d::Convolution;
use crate::cpu::conv2d_relu::backward::{Passed, Windows, by_parameters, by_sums};
use crate::cpu::conv2d_relu::{
    Pooled, forward_relu, forward_relu_on_cores, forward_relu_pool, forward_relu_pool_on_cores,
};
use crate::cpu::im2col::{Window, positions};
use crate::cpu::row_major::{elements, row_major, write};

/// The shape of the sums; extents of 0 where the filter does not fit.
fn output_shape(input: [usize; 4], filters: [usize; 4], padding: [usize; 2]) -> [usize; 4] {
    let [rows, cols] = [0, 1].map(|axis| positions(input[axis + 2], filters[axis + 2], 1, padding[axis]));
    [input[0], filters[0], rows, cols]
}

/// The shape of the pooled output.
fn pooled_shape([batch, channels, rows, cols]: [usize; 4], size: [usize; 2]) -> [usize; 4] {
    [batch, channels, rows.checked_div(size[0]).unwrap_or(0), cols.checked_div(size[1]).unwrap_or(0)]
}

fn convolution(input: &[usize], filters: &[usize], padding: [usize; 2]) -> Convolution {
    Convolution {
        batch: input[0],
        in_channels: input[1],
        out_channels: filters[0],
        window: Window {
            image: [input[2], input[3]],
            kernel: [filters[2], filters[3]],
            stride: [1, 1],
            padding,
        },
    }
}

/// `out = max(conv2d(input, filters) + bias, 0)`, where `bias[f]` is added to channel `f`; NaN stays NaN.
///
/// # Shapes
/// `input: [batch, in_channels, rows, cols]`, `filters: [out_channels, in_channels, kernel rows, kernel cols]`,
/// `bias: [out_channels]`, `out: [batch, out_channels, rows + 2 padding - kernel rows + 1, ..]`.
#[codelet(
    R, R, R, W,
    shape(out = output_shape(input.shape(), filters.shape(), padding)),
    check(input.shape()[1] == filters.shape()[1]),
    check(bias.len() == filters.shape()[0]),
    check(fits(input.shape(), kernel_of(filters.shape()), [1, 1], padding)),
    flops = 2 * out.len() * (filters.len() / filters.shape()[0].max(1) + 1),
    parallel = conv2d_relu_on_cores,
    cuda = crate::kernels::CONV2D_RELU,
    gradient = conv2d_relu_gradient(input, filters, out),
    reference = crate::reference::conv2d_relu::conv2d_relu,
    error = sum(n = filters.len() / filters.shape()[0].max(1) + 1)
)]
pub fn conv2d_relu<T: Real>(
    input: ArrayView4<T>,
    filters: ArrayView4<T>,
    bias: ArrayView1<T>,
    out: ArrayViewMut4<T>,
    padding: [usize; 2],
) {
    let conv = convolution(input.shape(), filters.shape(), padding);
    let (input, filters) = (row_major(&input), row_major(&filters));
    let bias = row_major(&bias);
    write(out, |out| forward_relu(&conv, elements(&input), elements(&filters), elements(&bias), out));
}

fn conv2d_relu_gradient<T: Real>(rule: Conv2dReluGradient<'_, T>) -> dahl::Result<()> {
    let Conv2dReluGradient { input, filters, out, gradient, by_input, by_filters, by_bias, padding, scope } =
        rule;
    let geometry = super::Conv2dGeometry { stride: [1, 1], padding };
    let (by_filters, by_bias) = match (by_input.is_some() || scope.is_remembered(), by_filters, by_bias) {
        // One task for both; nothing else needs the gradient that passes the ReLU.
        (false, Some(by_filters), Some(by_bias)) => {
            scope.sum(by_filters);
            scope.sum(by_bias);
            return conv2d_relu_backward(input, gradient, out, by_filters, by_bias, padding);
        }
        (_, by_filters, by_bias) => (by_filters, by_bias),
    };
    let passed = super::relu_backward_init(scope, out, gradient)?;
    if let Some(by_input) = by_input {
        super::Conv2dBackwardInput::under(scope, &passed, filters, by_input, geometry)?;
    }
    if let Some(by_filters) = by_filters {
        scope.sum(by_filters);
        super::Conv2dBackwardFilters::under(scope, input, &passed, by_filters, geometry)?;
    }
    if let Some(by_bias) = by_bias {
        if scope.sum(by_bias) {
            super::bias_backward(&passed, by_bias, 1)?;
        } else {
            *by_bias = super::bias_backward_init(scope, &passed, 1)?;
        }
    }
    Ok(())
}

/// [`conv2d_relu`] on several cores.
fn conv2d_relu_on_cores<T: Real>(
    input: ArrayView4<T>,
    filters: ArrayView4<T>,
    bias: ArrayView1<T>,
    out: ArrayViewMut4<T>,
    padding: [usize; 2],
) {
    let conv = convolution(input.shape(), filters.shape(), padding);
    let (input, filters) = (row_major(&input), row_major(&filters));
    let bias = row_major(&bias);
    write(out, |out| {
        forward_relu_on_cores(&conv, elements(&input), elements(&filters), elements(&bias), out)
    });
}

/// `out = ` the maximum of each window of [`conv2d_relu`]; NaN if one is NaN. `index` is its position in the plane of
/// the convolution's output, `row * cols + col`: of the first of equal elements before ReLU, or of the first NaN.
///
/// # Shapes
/// `input`, `filters` and `bias` as for [`conv2d_relu`]; `out` and `index` have the rows and columns of its output,
/// divided by `size`. The remainder is not read.
#[codelet(
    R, R, R, W, W,
    shape(out = pooled_shape(output_shape(input.shape(), filters.shape(), geometry.padding), geometry.size)),
    shape(index = pooled_shape(output_shape(input.shape(), filters.shape(), geometry.padding), geometry.size)),
    check(input.shape()[1] == filters.shape()[1]),
    check(bias.len() == filters.shape()[0]),
    check(fits(input.shape(), kernel_of(filters.shape()), [1, 1], geometry.padding)),
    check(geometry.size[0] > 0 && geometry.size[1] > 0),
    flops = 2 * out.len() * geometry.size[0] * geometry.size[1] * (filters.len() / filters.shape()[0].max(1) + 2),
    parallel = conv2d_relu_max_pool2d_on_cores,
    cuda = crate::kernels::CONV2D_RELU_MAX_POOL2D,
    gradient = conv2d_relu_max_pool2d_gradient(input, filters, out, index),
    reference = crate::reference::conv2d_relu::conv2d_relu_max_pool2d,
    error = sum(n = filters.len() / filters.shape()[0].max(1) + 1)
)]
pub fn conv2d_relu_max_pool2d<T: Real>(
    input: ArrayView4<T>,
    filters: ArrayView4<T>,
    bias: ArrayView1<T>,
    out: ArrayViewMut4<T>,
    index: ArrayViewMut4<u32>,
    geometry: Conv2dPoolGeometry,
) {
    let Conv2dPoolGeometry { padding, size } = geometry;
    let conv = convolution(input.shape(), filters.shape(), padding);
    let (input, filters) = (row_major(&input), row_major(&filters));
    let bias = row_major(&bias);
    write(out, |out| {
        write(index, |index| {
            let pooling = Pooled { size, out, index };
            forward_relu_pool(&conv, elements(&input), elements(&filters), elements(&bias), pooling);
        });
    });
}

fn conv2d_relu_max_pool2d_gradient<T: Real>(rule: Conv2dReluMaxPool2dGradient<'_, T>) -> dahl::Result<()> {
    let Conv2dReluMaxPool2dGradient { input, filters, out, index, gradient, geometry, scope, .. } = rule;
    let (by_input, by_filters, by_bias) = (rule.by_input, rule.by_filters, rule.by_bias);
    let (by_filters, by_bias) = match (&by_input, by_filters, by_bias) {
        (None, Some(by_filters), Some(by_bias)) => {
            scope.sum(by_filters);
            scope.sum(by_bias);
            return conv2d_relu_max_pool2d_backward(
                input, gradient, out, index, by_filters, by_bias, geometry,
            );
        }
        (_, by_filters, by_bias) => (by_filters, by_bias),
    };
    let arena = scope.detached();
    let padding = geometry.padding;
    let mut passed = arena.zeros(output_shape(input.shape(), filters.shape(), padding))?;
    match by_bias {
        Some(by_bias) => {
            scope.sum(by_bias);
            bias_relu_max_pool2d_backward(gradient, out, index, &mut passed, by_bias)?;
        }
        None => {
            let mut unwanted = arena.zeros([filters.shape()[0]])?;
            bias_relu_max_pool2d_backward(gradient, out, index, &mut passed, &mut unwanted)?;
        }
    }
    let geometry = super::Conv2dGeometry { stride: [1, 1], padding };
    if let Some(by_input) = by_input {
        super::conv2d_backward_input(&passed, filters, by_input, geometry)?;
    }
    if let Some(by_filters) = by_filters {
        scope.sum(by_filters);
        super::conv2d_backward_filters(input, &passed, by_filters, geometry)?;
    }
    Ok(())
}

/// [`conv2d_relu_max_pool2d`] on several cores.
fn conv2d_relu_max_pool2d_on_cores<T: Real>(
    input: ArrayView4<T>,
    filters: ArrayView4<T>,
    bias: ArrayView1<T>,
    out: ArrayViewMut4<T>,
    index: ArrayViewMut4<u32>,
    geometry: Conv2dPoolGeometry,
) {
    let Conv2dPoolGeometry { padding, size } = geometry;
    let conv = convolution(input.shape(), filters.shape(), padding);
    let (input, filters) = (row_major(&input), row_major(&filters));
    let bias = row_major(&bias);
    write(out, |out| {
        write(index, |index| {
            let pooling = Pooled { size, out, index };
            forward_relu_pool_on_cores(&conv, elements(&input), elements(&filters), elements(&bias), pooling);
        });
    });
}

/// Adds to `by_filters` and `by_bias` the gradients of [`conv2d_relu`] by its filters and its bias. The gradients of
/// the parts of a batch add up. `gradient` passes where `output` is above 0 or NaN.
///
/// # Shapes
/// `input` as its input; `gradient` and `output` as its output; `by_filters` and `by_bias` as its filters and its bias.
#[codelet(
    R, R, R, REDUX, REDUX,
    check(gradient.shape() == output_shape(input.shape(), by_filters.shape(), padding)),
    check(gradient.shape() == output.shape()),
    check(input.shape()[1] == by_filters.shape()[1]),
    check(by_bias.len() == by_filters.shape()[0]),
    flops = 2 * gradient.len() * (by_filters.len() / by_filters.shape()[0].max(1)),
    cuda = crate::kernels::CONV2D_RELU_BACKWARD,
    reference = crate::reference::conv2d_relu::conv2d_relu_backward,
    error = sum(n = gradient.len() / gradient.shape()[1].max(1) + 1)
)]
pub fn conv2d_relu_backward<T: Real>(
    input: ArrayView4<T>,
    gradient: ArrayView4<T>,
    output: ArrayView4<T>,
    by_filters: ArrayViewMut4<T::Compute>,
    by_bias: ArrayViewMut1<T::Compute>,
    padding: [usize; 2],
) {
    let conv = convolution(input.shape(), by_filters.shape(), padding);
    let (input, gradient) = (row_major(&input), row_major(&gradient));
    let output = row_major(&output);
    let passed = Passed { gradient: elements(&gradient), out: elements(&output), windows: None };
    write(by_filters, |by_filters| {
        write(by_bias, |by_bias| by_parameters(&conv, elements(&input), passed, [by_filters, by_bias]));
    });
}

/// The gradient of [`conv2d_relu_max_pool2d`] by the convolution's output: each element of `gradient` goes to the
/// position of the maximum, if its `output` is above 0 or NaN. What passes is also added to `by_bias`, the gradient by
/// the bias.
///
/// # Shapes
/// `gradient`, `output` and `index` as the outputs of [`conv2d_relu_max_pool2d`], `out` as the output of
/// [`conv2d_relu`], `by_bias` as the bias. The positions are in different windows, so no two are equal; one that is not
/// in `out` fails the task.
#[codelet(
    R, R, R, W, REDUX,
    check(gradient.shape() == index.shape() && gradient.shape() == output.shape()),
    check(gradient.shape()[..2] == out.shape()[..2]),
    check(gradient.shape()[2] <= out.shape()[2] && gradient.shape()[3] <= out.shape()[3]),
    check(by_bias.len() == out.shape()[1]),
    flops = 2 * gradient.len(),
    cuda = crate::kernels::BIAS_RELU_MAX_POOL2D_BACKWARD,
    reference = crate::reference::conv2d_relu::bias_relu_max_pool2d_backward,
    error = sum(n = gradient.len() / gradient.shape()[1].max(1) + 1)
)]
pub fn bias_relu_max_pool2d_backward<T: Real>(
    gradient: ArrayView4<T>,
    output: ArrayView4<T>,
    index: ArrayView4<u32>,
    out: ArrayViewMut4<T>,
    by_bias: ArrayViewMut1<T::Compute>,
) {
    let planes = [out.shape(), gradient.shape()].map(|shape| [shape[2], shape[3]]);
    let size = [0, 1].map(|axis| planes[0][axis] / planes[1][axis].max(1));
    let (gradient, output) = (row_major(&gradient), row_major(&output));
    let index = row_major(&index);
    let windows = Some(Windows { size, index: elements(&index) });
    let passed = Passed { gradient: elements(&gradient), out: elements(&output), windows };
    write(out, |out| write(by_bias, |by_bias| by_sums(planes, passed, out, by_bias)));
}

/// Adds to `by_filters` and `by_bias` the gradients of [`conv2d_relu_max_pool2d`] by its filters and its bias. The
/// gradients of the parts of a batch add up.
///
/// # Shapes
/// `input` as its input; `gradient`, `output` and `index` as its outputs; `by_filters` and `by_bias` as its filters and its
/// bias.
#[codelet(
    R, R, R, R, REDUX, REDUX,
    check(gradient.shape() == pooled_shape(output_shape(input.shape(), by_filters.shape(), geometry.padding), geometry.size)),
    check(gradient.shape() == index.shape() && gradient.shape() == output.shape()),
    check(input.shape()[1] == by_filters.shape()[1]),
    check(by_bias.len() == by_filters.shape()[0]),
    check(geometry.size[0] > 0 && geometry.size[1] > 0),
    flops = 2 * gradient.len() * geometry.size[0] * geometry.size[1] * (by_filters.len() / by_filters.shape()[0].max(1)),
    cuda = crate::kernels::CONV2D_RELU_MAX_POOL2D_BACKWARD,
    reference = crate::reference::conv2d_relu::conv2d_relu_max_pool2d_backward,
    error = sum(n = gradient.len() / gradient.shape()[1].max(1) + 1)
)]
pub fn conv2d_relu_max_pool2d_backward<T: Real>(
    input: ArrayView4<T>,
    gradient: ArrayView4<T>,
    output: ArrayView4<T>,
    index: ArrayView4<u32>,
    by_filters: ArrayViewMut4<T::Compute>,
    by_bias: ArrayViewMut1<T::Compute>,
    geometry: Conv2dPoolGeometry,
) {
    let Conv2dPoolGeometry { padding, size } = geometry;
    let conv = convolution(input.shape(), by_filters.shape(), padding);
    let (input, gradient) = (row_major(&input), row_major(&gradient));
    let (output, index) = (row_major(&output), row_major(&index));
    let windows = Some(Windows { size, index: elements(&index) });
    let passed = Passed { gradient: elements(&gradient), out: elements(&output), windows };
    write(by_filters, |by_filters| {
        write(by_bias, |by_bias| by_parameters(&conv, elements(&input), passed, [by_filters, by_bias]));
    });
}
