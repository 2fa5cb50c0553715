//! Pooling: the maximum or the mean of a window that slides over every channel of every image, and its gradient.
//!
//! As in PyTorch, padding is never a maximum and counts as zeros in a mean; it is at most half of the window.

use dahl::ndarray::{ArrayView4, ArrayViewMut4};
use dahl::prelude::*;

use super::conv2d::fits;
use super::geometry::Pool2dGeometry;
use crate::cpu::im2col::{ColumnTap, Window, for_each_strided, positions};
use crate::cpu::row_major::{elements, row_major, write};
use crate::cpu::scratch::with_scratch;

/// The shape of a pooled batch of images; extents of 0 where the window does not fit.
fn pooled_shape(input: [usize; 4], geometry: Pool2dGeometry) -> [usize; 4] {
    let Pool2dGeometry { size, stride, padding } = geometry;
    let [rows, cols] = [0, 1].map(|axis| positions(input[axis + 2], size[axis], stride[axis], padding[axis]));
    [input[0], input[1], rows, cols]
}

/// Whether every position of the window covers at least one pixel of the image.
fn covers(size: [usize; 2], padding: [usize; 2]) -> bool {
    (0..2).all(|axis| padding[axis] <= size[axis] / 2)
}

/// Whether the pixels under the window have numbers, as those of an image do that `max_pool2d` gives.
fn is_countable([rows, cols]: [usize; 2]) -> bool {
    rows.checked_mul(cols).is_some_and(|pixels| u32::try_from(pixels).is_ok())
}

/// The first two extents: images and channels.
fn planes_of([batch, channels, ..]: [usize; 4]) -> [usize; 2] {
    [batch, channels]
}

fn window(image: &[usize], geometry: Pool2dGeometry) -> Window {
    let Pool2dGeometry { size, stride, padding } = geometry;
    Window { image: [image[2], image[3]], kernel: size, stride, padding }
}

/// `out[n, c, i, j] = ` the maximum under the window at position `i, j`; NaN if one is NaN. `index` is its position in
/// the plane `input[n, c]`, `row * cols + col`: of the first of equal elements, or of the first NaN.
///
/// # Shapes
/// `input: [batch, channels, rows, cols]`, `out` and `index: [batch, channels, (rows + 2 padding - size) / stride + 1, ..]`.
#[codelet(
    R, W, W,
    shape(out = pooled_shape(input.shape(), geometry)),
    shape(index = pooled_shape(input.shape(), geometry)),
    check(fits(input.shape(), geometry.size, geometry.stride, geometry.padding)),
    check(covers(geometry.size, geometry.padding)),
    check(is_countable(geometry.size)),
    flops = out.len() * 2,
    cuda = crate::kernels::MAX_POOL2D,
    gradient = max_pool2d_gradient(index),
    reference = crate::reference::pool2d::max_pool2d,
    error = rounded
)]
pub fn max_pool2d<T: Real>(
    input: ArrayView4<T>,
    out: ArrayViewMut4<T>,
    index: ArrayViewMut4<u32>,
    geometry: Pool2dGeometry,
) {
    let window = window(input.shape(), geometry);
    let input = row_major(&input);
    let input = elements(&input);
    write(out, |out| write(index, |index| max_pool_planes(&window, input, out, index)));
}

fn max_pool2d_gradient<T: Real>(rule: MaxPool2dGradient<'_, T>) -> dahl::Result<()> {
    let Some(by_input) = rule.by_input else { return Ok(()) };
    MaxPool2dBackward::under(rule.scope, rule.gradient, rule.index, by_input)
}

#[inline(always)]
fn max_pool_planes<T: Real>(window: &Window, input: &[T], out: &mut [T], index: &mut [u32]) {
    let ([rows, cols], image_cols) = (window.positions(), window.image[1]);
    if out.is_empty() {
        return;
    }
    with_scratch([window.kernel[1]], |[taps]: [&mut [ColumnTap]; 1]| {
        window.column_taps(taps);
        let planes = input.chunks_exact(window.image[0] * image_cols);
        let outs = out.chunks_exact_mut(rows * cols).zip(index.chunks_exact_mut(rows * cols));
        for (plane, (out, index)) in planes.zip(outs) {
            for (row, (out, index)) in
                out.chunks_exact_mut(cols).zip(index.chunks_exact_mut(cols)).enumerate()
            {
                // One tap at a time over the whole row of positions, so that the inner loop has no branch and
                // vectorises.
                let mut is_first = true;
                for row_tap in 0..window.kernel[0] {
                    let Some(source) = window.source(0, row, row_tap) else { continue };
                    let line = &plane[source * image_cols..][..image_cols];
                    if is_first {
                        out.fill(T::NEG_INFINITY);
                        for (col, index) in index.iter_mut().enumerate() {
                            let col = (col * window.stride[1]).saturating_sub(window.padding[1]);
                            *index = (source * image_cols + col) as u32;
                        }
                        is_first = false;
                    }
                    for &[start, end, first] in &*taps {
                        let place = (source * image_cols + first) as u32;
                        let step = window.stride[1] as u32;
                        let (out, index) = (&mut out[start..end], &mut index[start..end]);
                        for_each_strided(out, &line[first..], window.stride[1], |best, &value, position| {
                            let is_larger = !best.is_nan() & ((value > *best) | value.is_nan());
                            *best = if is_larger { value } else { *best };
                            index[position] =
                                if is_larger { place + position as u32 * step } else { index[position] };
                        });
                    }
                }
            }
        }
    });
}

/// The gradient of [`max_pool2d`] by its input: each element of `gradient` is added to the pixel that was the maximum.
///
/// # Shapes
/// `gradient` and `index` as the outputs of [`max_pool2d`], `out` as its input.
#[codelet(
    R, R, W,
    check(gradient.shape() == index.shape()),
    check(planes_of(gradient.shape()) == planes_of(out.shape())),
    flops = gradient.len(),
    cuda = crate::kernels::MAX_POOL2D_BACKWARD,
    gradient = max_pool2d_backward_gradient(index),
    reference = crate::reference::pool2d::max_pool2d_backward,
    error = sum(n = gradient.shape()[2] * gradient.shape()[3])
)]
pub fn max_pool2d_backward<T: Real>(gradient: ArrayView4<T>, index: ArrayView4<u32>, out: ArrayViewMut4<T>) {
    let (pixels, positions) = (out.shape()[2] * out.shape()[3], gradient.shape()[2] * gradient.shape()[3]);
    let (gradient, index) = (row_major(&gradient), row_major(&index));
    let (gradient, index) = (elements(&gradient), elements(&index));
    write(out, |out| {
        out.fill(T::ZERO);
        if pixels == 0 || positions == 0 {
            return;
        }
        let planes = gradient.chunks_exact(positions).zip(index.chunks_exact(positions));
        with_scratch([pixels], |[sums]: [&mut [T::Compute]; 1]| {
            for ((gradient, index), out) in planes.zip(out.chunks_exact_mut(pixels)) {
                sums.fill(T::Compute::ZERO);
                for (gradient, &index) in gradient.iter().zip(index) {
                    sums[index as usize] += gradient.widen();
                }
                T::narrow_slice(sums, out);
            }
        });
    });
}

fn max_pool2d_backward_gradient<T: Real>(rule: MaxPool2dBackwardGradient<'_, T>) -> dahl::Result<()> {
    let Some(by_gradient) = rule.by_gradient else { return Ok(()) };
    let planes = |[batch, channels, rows, cols]: [usize; 4]| [batch, channels, rows * cols];
    let (shape, index) = (rule.gradient_out.shape(), rule.index.reshaped(planes(rule.index.shape()))?);
    let gradient = rule.gradient_out.reshaped(planes(shape))?;
    *by_gradient = super::gather_init(rule.scope, &*gradient, &*index, 2)?.reshape(rule.index.shape())?;
    Ok(())
}

/// `out[n, c, i, j] = ` the mean of the elements under the window at position `i, j`, padding included.
///
/// # Shapes
/// As for [`max_pool2d`].
#[codelet(
    R, W,
    shape(out = pooled_shape(input.shape(), geometry)),
    check(fits(input.shape(), geometry.size, geometry.stride, geometry.padding)),
    check(covers(geometry.size, geometry.padding)),
    check(is_countable(geometry.size)),
    flops = out.len() * 2,
    cuda = crate::kernels::AVG_POOL2D,
    gradient = adjoint(avg_pool2d_backward),
    reference = crate::reference::pool2d::avg_pool2d,
    error = sum(n = geometry.size[0] * geometry.size[1] + 1)
)]
pub fn avg_pool2d<T: Real>(input: ArrayView4<T>, out: ArrayViewMut4<T>, geometry: Pool2dGeometry) {
    let window = window(input.shape(), geometry);
    let input = row_major(&input);
    let input = elements(&input);
    write(out, |out| avg_pool_planes(&window, input, out));
}

#[inline(always)]
fn avg_pool_planes<T: Real>(window: &Window, input: &[T], out: &mut [T]) {
    let ([rows, cols], image_cols) = (window.positions(), window.image[1]);
    let count = <T::Compute as Real>::from_f64((window.kernel[0] * window.kernel[1]) as f64);
    if out.is_empty() {
        return;
    }
    with_scratch([window.kernel[1]], |[taps]: [&mut [ColumnTap]; 1]| {
        window.column_taps(taps);
        with_scratch([cols, cols], |[sums, line_sums]: [&mut [T::Compute]; 2]| {
            let planes = input.chunks_exact(window.image[0] * image_cols);
            for (plane, out) in planes.zip(out.chunks_exact_mut(rows * cols)) {
                for (row, out) in out.chunks_exact_mut(cols).enumerate() {
                    sums.fill(T::Compute::ZERO);
                    for row_tap in 0..window.kernel[0] {
                        let Some(source) = window.source(0, row, row_tap) else { continue };
                        let line = &plane[source * image_cols..][..image_cols];
                        line_sums.fill(T::Compute::ZERO);
                        for &[start, end, first] in &*taps {
                            for_each_strided(
                                &mut line_sums[start..end],
                                &line[first..],
                                window.stride[1],
                                |sum, value, _| {
                                    *sum += value.widen();
                                },
                            );
                        }
                        // Line by line: the error for a large window is that of `rows + cols` additions.
                        for (sum, line_sum) in sums.iter_mut().zip(&*line_sums) {
                            *sum += *line_sum;
                        }
                    }
                    for (out, sum) in out.iter_mut().zip(&*sums) {
                        *out = T::narrow(*sum / count);
                    }
                }
            }
        });
    });
}

/// The gradient of [`avg_pool2d`] by its input: each element of `gradient`, divided by the size of the window, is added
/// to every pixel under it.
///
/// # Shapes
/// `gradient` as the output of [`avg_pool2d`], `out` as its input.
#[codelet(
    R, W,
    check(gradient.shape() == pooled_shape(out.shape(), geometry)),
    check(covers(geometry.size, geometry.padding)),
    check(is_countable(geometry.size)),
    flops = gradient.len() * 2,
    cuda = crate::kernels::AVG_POOL2D_BACKWARD,
    gradient = adjoint(avg_pool2d),
    reference = crate::reference::pool2d::avg_pool2d_backward,
    error = sum(n = geometry.size[0] * geometry.size[1] + 1)
)]
pub fn avg_pool2d_backward<T: Real>(
    gradient: ArrayView4<T>,
    out: ArrayViewMut4<T>,
    geometry: Pool2dGeometry,
) {
    let window = window(out.shape(), geometry);
    let gradient = row_major(&gradient);
    let gradient = elements(&gradient);
    write(out, |out| avg_pool_planes_backward(&window, gradient, out));
}

#[inline(always)]
fn avg_pool_planes_backward<T: Real>(window: &Window, gradient: &[T], out: &mut [T]) {
    let ([rows, cols], [image_rows, image_cols]) = (window.positions(), window.image);
    let count = <T::Compute as Real>::from_f64((window.kernel[0] * window.kernel[1]) as f64);
    out.fill(T::ZERO);
    if gradient.is_empty() || out.is_empty() {
        return;
    }
    with_scratch([window.kernel[1]], |[taps]: [&mut [ColumnTap]; 1]| {
        window.column_taps(taps);
        with_scratch([image_rows * image_cols], |[sums]: [&mut [T::Compute]; 1]| {
            let planes =
                gradient.chunks_exact(rows * cols).zip(out.chunks_exact_mut(image_rows * image_cols));
            for (gradient, out) in planes {
                sums.fill(T::Compute::ZERO);
                for (row, gradient) in gradient.chunks_exact(cols).enumerate() {
                    for row_tap in 0..window.kernel[0] {
                        let Some(source) = window.source(0, row, row_tap) else { continue };
                        let line = &mut sums[source * image_cols..][..image_cols];
                        for &[start, end, first] in &*taps {
                            let pixels = line[first..].iter_mut().step_by(window.stride[1]);
                            for (pixel, gradient) in pixels.zip(&gradient[start..end]) {
                                *pixel += gradient.widen() / count;
                            }
                        }
                    }
                }
                T::narrow_slice(sums, out);
            }
        });
    });
}
