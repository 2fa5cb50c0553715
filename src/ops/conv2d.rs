//! [`conv2d`]: two-dimensional convolution of a batch of images, and its gradients.
//!
//! As usual in neural networks, this is cross-correlation: the filter is not flipped (Goodfellow, Bengio and Courville
//! 2016, *Deep Learning*, section 9.1). [`bias`](super::bias) adds a bias along axis 1.

use dahl::cuda::{CudaArray, CudaArrayMut, CudaCall, CudaCallError};
use dahl::ndarray::{ArrayView4, ArrayViewMut4};
use dahl::prelude::*;

use super::geometry::Conv2dGeometry;
use crate::cpu::conv2d::{
    Convolution, backward_filters, backward_input, backward_input_on_cores, forward, forward_on_cores,
};
use crate::cpu::gemm::Cores;
use crate::cpu::im2col::{Window, positions};
use crate::cpu::row_major::{elements, row_major, write};

/// The shape of a convolution's output; extents of 0 where the filter does not fit.
fn output_shape(input: [usize; 4], filters: [usize; 4], geometry: Conv2dGeometry) -> [usize; 4] {
    let Conv2dGeometry { stride, padding } = geometry;
    let [rows, cols] =
        [0, 1].map(|axis| positions(input[axis + 2], filters[axis + 2], stride[axis], padding[axis]));
    [input[0], filters[0], rows, cols]
}

/// Whether a kernel of these extents fits into a padded image, and its stride is not 0.
pub(crate) fn fits(image: [usize; 4], kernel: [usize; 2], stride: [usize; 2], padding: [usize; 2]) -> bool {
    (0..2).all(|axis| positions(image[axis + 2], kernel[axis], stride[axis], padding[axis]) > 0)
}

/// The last two extents.
pub(crate) fn kernel_of([_, _, rows, cols]: [usize; 4]) -> [usize; 2] {
    [rows, cols]
}

fn convolution(input: &[usize], filters: &[usize], geometry: Conv2dGeometry) -> Convolution {
    let Conv2dGeometry { stride, padding } = geometry;
    Convolution {
        batch: input[0],
        in_channels: input[1],
        out_channels: filters[0],
        window: Window { image: [input[2], input[3]], kernel: [filters[2], filters[3]], stride, padding },
    }
}

/// `out[n, f, r, c] = sum over i, j, k of filters[f, i, j, k] * input[n, i, r * stride[0] + j - padding[0], c * stride[1] + k - padding[1]]`.
///
/// With stride 1, a direct convolution on padded planes; otherwise products of the filters with packed patches, for a
/// few rows of output at a time.
///
/// # Shapes
/// `input: [batch, in_channels, rows, cols]`, `filters: [out_channels, in_channels, kernel rows, kernel cols]`,
/// `out: [batch, out_channels, (rows + 2 padding - kernel rows) / stride + 1, ..]`.
#[codelet(
    R, R, W,
    shape(out = output_shape(input.shape(), filters.shape(), geometry)),
    check(input.shape()[1] == filters.shape()[1]),
    check(fits(input.shape(), kernel_of(filters.shape()), geometry.stride, geometry.padding)),
    flops = 2 * out.len() * (filters.len() / filters.shape()[0].max(1)),
    parallel = conv2d_on_cores,
    cuda = crate::kernels::CONV2D,
    cuda_call = [cudnn conv2d_by_cudnn],
    gradient = conv2d_gradient(input, filters),
    reference = crate::reference::conv2d::conv2d,
    error = sum(n = filters.len() / filters.shape()[0].max(1))
)]
pub fn conv2d<T: Real>(
    input: ArrayView4<T>,
    filters: ArrayView4<T>,
    out: ArrayViewMut4<T>,
    geometry: Conv2dGeometry,
) {
    let conv = convolution(input.shape(), filters.shape(), geometry);
    let (input, filters) = (row_major(&input), row_major(&filters));
    write(out, |out| forward(&conv, elements(&input), elements(&filters), out));
}

fn conv2d_gradient<T: Real>(rule: Conv2dGradient<'_, T>) -> dahl::Result<()> {
    let Conv2dGradient { input, filters, gradient, by_input, by_filters, geometry, scope } = rule;
    if let Some(by_input) = by_input {
        Conv2dBackwardInput::under(scope, gradient, filters, by_input, geometry)?;
    }
    if let Some(by_filters) = by_filters {
        scope.sum(by_filters);
        Conv2dBackwardFilters::under(scope, input, gradient, by_filters, geometry)?;
    }
    Ok(())
}

/// [`conv2d`] on several cores.
fn conv2d_on_cores<T: Real>(
    input: ArrayView4<T>,
    filters: ArrayView4<T>,
    out: ArrayViewMut4<T>,
    geometry: Conv2dGeometry,
) {
    let conv = convolution(input.shape(), filters.shape(), geometry);
    let (input, filters) = (row_major(&input), row_major(&filters));
    write(out, |out| forward_on_cores(&conv, elements(&input), elements(&filters), out));
}

/// [`conv2d`] by cuDNN.
fn conv2d_by_cudnn<T: Real>(
    call: &mut CudaCall<'_>,
    input: CudaArray<'_, T, 4>,
    filters: CudaArray<'_, T, 4>,
    mut out: CudaArrayMut<'_, T, 4>,
    geometry: Conv2dGeometry,
) -> Result<(), CudaCallError> {
    call.convolution(input, filters, &mut out, geometry.stride, geometry.padding)
}

/// The gradient of [`conv2d`] by its input, from the gradient by its output.
///
/// Rows and columns of the input that no position of the kernel reaches, which a stride can leave over, get 0. So the
/// caller must give the shape of `out`.
///
/// # Shapes
/// `gradient` as the output of [`conv2d`], `out` as its input.
#[codelet(
    R, R, W,
    check(gradient.shape() == output_shape(out.shape(), filters.shape(), geometry)),
    check(out.shape()[1] == filters.shape()[1]),
    flops = 2 * gradient.len() * (filters.len() / filters.shape()[0].max(1)),
    parallel = conv2d_backward_input_on_cores,
    cuda = crate::kernels::CONV2D_BACKWARD_INPUT,
    cuda_call = [cudnn conv2d_backward_input_by_cudnn],
    gradient = conv2d_backward_input_gradient(gradient, filters),
    reference = crate::reference::conv2d::conv2d_backward_input,
    error = sum(n = filters.len() / filters.shape()[1].max(1))
)]
pub fn conv2d_backward_input<T: Real>(
    gradient: ArrayView4<T>,
    filters: ArrayView4<T>,
    out: ArrayViewMut4<T>,
    geometry: Conv2dGeometry,
) {
    let conv = convolution(out.shape(), filters.shape(), geometry);
    let (gradient, filters) = (row_major(&gradient), row_major(&filters));
    write(out, |out| backward_input(&conv, elements(&gradient), elements(&filters), out));
}

/// [`conv2d_backward_input`] on several cores.
fn conv2d_backward_input_on_cores<T: Real>(
    gradient: ArrayView4<T>,
    filters: ArrayView4<T>,
    out: ArrayViewMut4<T>,
    geometry: Conv2dGeometry,
) {
    let conv = convolution(out.shape(), filters.shape(), geometry);
    let (gradient, filters) = (row_major(&gradient), row_major(&filters));
    write(out, |out| backward_input_on_cores(&conv, elements(&gradient), elements(&filters), out));
}

fn conv2d_backward_input_gradient<T: Real>(rule: Conv2dBackwardInputGradient<'_, T>) -> dahl::Result<()> {
    let Conv2dBackwardInputGradient {
        gradient,
        filters,
        gradient_out,
        by_gradient,
        by_filters,
        geometry,
        scope,
    } = rule;
    if let Some(by_gradient) = by_gradient {
        *by_gradient = conv2d_init(scope, gradient_out, filters, geometry)?;
    }
    if let Some(by_filters) = by_filters {
        Conv2dBackwardFilters::under(scope, gradient_out, gradient, by_filters, geometry)?;
    }
    Ok(())
}

/// [`conv2d_backward_input`] by cuDNN.
fn conv2d_backward_input_by_cudnn<T: Real>(
    call: &mut CudaCall<'_>,
    gradient: CudaArray<'_, T, 4>,
    filters: CudaArray<'_, T, 4>,
    mut out: CudaArrayMut<'_, T, 4>,
    geometry: Conv2dGeometry,
) -> Result<(), CudaCallError> {
    call.convolution_backward_data(gradient, filters, &mut out, geometry.stride, geometry.padding)
}

/// Adds to `out` the gradient of [`conv2d`] by its filters, from the gradient by its output. The gradients of the parts
/// of a batch add up.
///
/// # Shapes
/// `input` and `gradient` as the input and the output of [`conv2d`], `out` as its filters.
#[codelet(
    R, R, REDUX,
    check(gradient.shape() == output_shape(input.shape(), out.shape(), geometry)),
    check(input.shape()[1] == out.shape()[1]),
    flops = 2 * gradient.len() * (out.len() / out.shape()[0].max(1)),
    parallel = conv2d_backward_filters_on_cores,
    cuda = crate::kernels::CONV2D_BACKWARD_FILTERS,
    cuda_call = [last cudnn conv2d_backward_filters_by_cudnn],
    gradient = conv2d_backward_filters_gradient(input, gradient),
    reference = crate::reference::conv2d::conv2d_backward_filters,
    error = sum(n = gradient.len() / gradient.shape()[1].max(1) + 1)
)]
pub fn conv2d_backward_filters<T: Real>(
    input: ArrayView4<T>,
    gradient: ArrayView4<T>,
    out: ArrayViewMut4<T::Compute>,
    geometry: Conv2dGeometry,
) {
    let conv = convolution(input.shape(), out.shape(), geometry);
    let (input, gradient) = (row_major(&input), row_major(&gradient));
    write(out, |out| backward_filters(Cores::One, &conv, elements(&input), elements(&gradient), out));
}

/// [`conv2d_backward_filters`] on several cores.
fn conv2d_backward_filters_on_cores<T: Real>(
    input: ArrayView4<T>,
    gradient: ArrayView4<T>,
    out: ArrayViewMut4<T::Compute>,
    geometry: Conv2dGeometry,
) {
    let conv = convolution(input.shape(), out.shape(), geometry);
    let (input, gradient) = (row_major(&input), row_major(&gradient));
    write(out, |out| backward_filters(Cores::Pool, &conv, elements(&input), elements(&gradient), out));
}

fn conv2d_backward_filters_gradient<T: Real>(rule: Conv2dBackwardFiltersGradient<'_, T>) -> dahl::Result<()> {
    let Conv2dBackwardFiltersGradient {
        input,
        gradient,
        gradient_out,
        by_input,
        by_gradient,
        geometry,
        scope,
    } = rule;
    if let Some(by_input) = by_input {
        Conv2dBackwardInput::under(scope, gradient, gradient_out, by_input, geometry)?;
    }
    if let Some(by_gradient) = by_gradient {
        *by_gradient = conv2d_init(scope, input, gradient_out, geometry)?;
    }
    Ok(())
}

/// [`conv2d_backward_filters`] by cuDNN, which does not sum half-precision products in `f32`. Its deterministic
/// algorithm is usually slower than the kernel in CUDA (`docs/performance-h100.md`).
fn conv2d_backward_filters_by_cudnn<T: Real>(
    call: &mut CudaCall<'_>,
    input: CudaArray<'_, T, 4>,
    gradient: CudaArray<'_, T, 4>,
    mut out: CudaArrayMut<'_, T::Compute, 4>,
    geometry: Conv2dGeometry,
) -> Result<(), CudaCallError> {
    call.convolution_backward_filter(input, gradient, 1.0, &mut out, geometry.stride, geometry.padding)
}
