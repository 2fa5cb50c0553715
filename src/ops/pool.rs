//! Pooling over one to three spatial axes: [`max_pool`], [`avg_pool`], and their gradients.
//!
//! As in PyTorch, padding is never a maximum. Images are pooled faster by [`max_pool2d`](super::max_pool2d) and
//! [`avg_pool2d`](super::avg_pool2d), where they apply.

use dahl::ndarray::{ArrayViewD, ArrayViewMutD};
use dahl::prelude::*;

use super::geometry::{PoolGeometry, spatial, with_spatial};
use crate::cpu::row_major::{elements, row_major, write};
use crate::cpu::scratch::with_scratch;
use crate::cpu::windows::{Span, Windows, with_windows};

/// Whether it is `[batch, channels, ..]` with `D` spatial axes, one to three, whose elements can be counted in 32 bits.
pub(super) fn is_countable<const D: usize>(shape: &[usize]) -> bool {
    let counted =
        shape.iter().skip(2).try_fold(1_u32, |count, &extent| count.checked_mul(extent.try_into().ok()?));
    shape.len() == D + 2 && (1..=3).contains(&D) && counted.is_some()
}

impl<const D: usize> PoolGeometry<D> {
    /// The number of positions of the window along an axis of `extent`; 0 if it does not fit.
    fn positions(&self, axis: usize, extent: usize) -> usize {
        let [size, stride, padding, dilation] = self.along(axis);
        let span = || size.checked_sub(1)?.checked_mul(dilation)?.checked_add(1);
        let padded = || padding.checked_mul(2)?.checked_add(extent);
        let beyond = || padded()?.checked_sub(span()?);
        match beyond() {
            Some(beyond) if stride > 0 && dilation > 0 => {
                let further = usize::from(
                    self.ceil
                        && beyond % stride > 0
                        && (beyond / stride + 1).saturating_mul(stride) < extent + padding,
                );
                beyond / stride + 1 + further
            }
            _ => 0,
        }
    }

    /// The window at a position along an axis of `extent`.
    fn span(&self, axis: usize, extent: usize, position: usize) -> Span {
        let [size, stride, padding, dilation] = self.along(axis);
        // In the padded input.
        let start = position * stride;
        let before = |end: usize| end.saturating_sub(start).div_ceil(dilation).min(size);
        let (first, end) = (before(padding), before(extent + padding));
        let count = end - first;
        let divisor = if self.count_padding { before(extent + 2 * padding) } else { count };
        [(start + first * dilation).saturating_sub(padding), count, dilation, divisor]
    }

    fn along(&self, axis: usize) -> [usize; 4] {
        [self.size[axis], self.stride[axis], self.padding[axis], self.dilation[axis]]
    }

    /// Whether every window covers at least one element of an input of this shape.
    fn covers(&self, input: &[usize]) -> bool {
        is_countable::<D>(input)
            && (0..D).all(|axis| {
                let positions = self.positions(axis, input[axis + 2]);
                positions > 0 && (0..positions).all(|at| self.span(axis, input[axis + 2], at)[1] > 0)
            })
    }

    /// The shape of the result.
    fn pooled<const N: usize>(&self, input: [usize; N]) -> [usize; N] {
        let extents: [usize; D] = spatial(&input);
        with_spatial(input, std::array::from_fn::<_, D, _>(|axis| self.positions(axis, extents[axis])))
    }

    /// Calls `f` with the windows of an input of these spatial extents.
    #[inline(always)]
    fn with(&self, input: [usize; D], f: impl FnOnce(Windows<'_>)) {
        let positions: [usize; D] = std::array::from_fn(|axis| self.positions(axis, input[axis]));
        with_windows(&input, &positions, |axis, position| self.span(axis, input[axis], position), f);
    }

    /// The number of elements of a window.
    fn window(&self) -> usize {
        self.size.iter().product()
    }
}

/// `out[n, c, p] = ` the maximum under the window at position `p`; NaN if one is NaN. `index` is its place in
/// `input[n, c]`, as one number in row-major order: of the first of equal elements, or of the first NaN.
///
/// # Shapes
/// `input: [batch, channels, ..spatial]` with one to three spatial axes, `out` and
/// `index: [batch, channels, (spatial + 2 padding - dilation (size - 1) - 1) / stride + 1, ..]`. Every window must
/// cover an element.
#[codelet(
    R, W, W,
    cuda = crate::kernels::MAX_POOL,
    shape(out = geometry.pooled(input.shape())),
    shape(index = geometry.pooled(input.shape())),
    check(geometry.covers(&input.shape())),
    flops = out.len() * geometry.window(),
    gradient = max_pool_gradient(index),
    reference = crate::reference::pool::max_pool,
    error = rounded
)]
pub fn max_pool<T: Real, const D: usize>(
    input: ArrayViewD<T>,
    out: ArrayViewMutD<T>,
    index: ArrayViewMutD<u32>,
    geometry: PoolGeometry<D>,
) {
    geometry.with(spatial(input.shape()), |windows| {
        let input = row_major(&input);
        write(out, |out| write(index, |index| windows.max(elements(&input), out, index)));
    });
}

fn max_pool_gradient<T: Real, const D: usize, const N: usize>(
    rule: MaxPoolGradient<'_, T, D, N>,
) -> dahl::Result<()> {
    let Some(by_input) = rule.by_input else { return Ok(()) };
    let extents = spatial::<D>(&by_input.shape());
    *by_input = max_pool_backward_init(rule.scope, rule.gradient, rule.index, extents)?;
    Ok(())
}

/// The gradient of [`max_pool`] and of [`adaptive_max_pool`](super::adaptive_max_pool) by their input, of the spatial
/// `extents`: each element of `gradient` is added to the place in `index`. Places that are not below the number of
/// elements fail the task.
///
/// # Shapes
/// `gradient` and `index` as the outputs of [`max_pool`], `out` as its input.
#[codelet(
    R, R, W,
    cuda = crate::kernels::MAX_POOL_BACKWARD,
    shape(out = with_spatial(gradient.shape(), extents)),
    check(gradient.shape() == index.shape()),
    check(is_countable::<D>(&with_spatial(gradient.shape(), extents)) && is_countable::<D>(&gradient.shape())),
    flops = gradient.len(),
    gradient = max_pool_backward_gradient(index),
    reference = crate::reference::pool::max_pool_backward,
    error = sum(n = gradient.len() / (gradient.shape()[0] * gradient.shape()[1]).max(1))
)]
pub fn max_pool_backward<T: Real, const D: usize>(
    gradient: ArrayViewD<T>,
    index: ArrayViewD<u32>,
    out: ArrayViewMutD<T>,
    extents: [usize; D],
) {
    let (len, positions) = (extents.iter().product(), gradient.shape()[2..].iter().product());
    let (gradient, index) = (row_major(&gradient), row_major(&index));
    let (gradient, index) = (elements(&gradient), elements(&index));
    write(out, |out| {
        out.fill(T::ZERO);
        if gradient.is_empty() || out.is_empty() {
            return;
        }
        let planes = gradient.chunks_exact(positions).zip(index.chunks_exact(positions));
        with_scratch([len], |[sums]: [&mut [T::Compute]; 1]| {
            for ((gradient, index), out) in planes.zip(out.chunks_exact_mut(len)) {
                sums.fill(T::Compute::ZERO);
                for (gradient, &index) in gradient.iter().zip(index) {
                    sums[index as usize] += gradient.widen();
                }
                T::narrow_slice(sums, out);
            }
        });
    });
}

fn max_pool_backward_gradient<T: Real, const D: usize, const N: usize>(
    rule: MaxPoolBackwardGradient<'_, T, D, N>,
) -> dahl::Result<()> {
    let Some(by_gradient) = rule.by_gradient else { return Ok(()) };
    let planes = |shape: [usize; N]| [shape[0], shape[1], shape[2..].iter().product()];
    let index = rule.index.reshaped(planes(rule.index.shape()))?;
    let gradient = rule.gradient_out.reshaped(planes(rule.gradient_out.shape()))?;
    *by_gradient = super::gather_init(rule.scope, &*gradient, &*index, 2)?.reshape(rule.index.shape())?;
    Ok(())
}

/// `out[n, c, p] = ` the mean of the elements under the window at position `p`, with or without padding.
///
/// # Shapes
/// As for [`max_pool`].
#[codelet(
    R, W,
    cuda = crate::kernels::AVG_POOL,
    shape(out = geometry.pooled(input.shape())),
    check(geometry.covers(&input.shape())),
    flops = out.len() * geometry.window(),
    gradient = adjoint(avg_pool_backward),
    reference = crate::reference::pool::avg_pool,
    error = sum(n = geometry.window() + 1)
)]
pub fn avg_pool<T: Real, const D: usize>(
    input: ArrayViewD<T>,
    out: ArrayViewMutD<T>,
    geometry: PoolGeometry<D>,
) {
    geometry.with(spatial(input.shape()), |windows| {
        let input = row_major(&input);
        write(out, |out| windows.mean(elements(&input), out));
    });
}

/// The gradient of [`avg_pool`] by its input: each element of `gradient`, divided as the sum is, is added to every
/// element under its window.
///
/// # Shapes
/// `gradient` as the output of [`avg_pool`], `out` as its input.
#[codelet(
    R, W,
    cuda = crate::kernels::AVG_POOL_BACKWARD,
    check(geometry.covers(&out.shape())),
    check(gradient.shape() == geometry.pooled(out.shape())),
    flops = gradient.len() * geometry.window(),
    gradient = adjoint(avg_pool),
    reference = crate::reference::pool::avg_pool_backward,
    error = sum(n = geometry.window() + 1)
)]
pub fn avg_pool_backward<T: Real, const D: usize>(
    gradient: ArrayViewD<T>,
    out: ArrayViewMutD<T>,
    geometry: PoolGeometry<D>,
) {
    geometry.with(spatial(out.shape()), |windows| {
        let gradient = row_major(&gradient);
        write(out, |out| windows.mean_backward(elements(&gradient), out));
    });
}
