//! Sums, means and extremes, of everything or along an axis.
//!
//! Sums accumulate in the compute type, pairwise or in blocks, so their error grows with the logarithm or the square
//! root of the number of terms (Higham, *Accuracy and Stability of Numerical Algorithms*, section 4.2). An op along an
//! axis keeps that axis with extent 1, like NumPy's `keepdims=True`, so that the result broadcasts against its input.

use dahl::ndarray::{ArrayViewD, ArrayViewMut0, ArrayViewMutD};
use dahl::prelude::*;
use dahl::simd;

use crate::cpu::row_major::{add_sums, around, elements, row_major, write};
use crate::cpu::scratch::with_scratch;
use crate::cpu::sum_of::mean_of;

/// `shape` with extent 1 at `axis`.
pub(crate) fn reduced<const N: usize>(mut shape: [usize; N], axis: usize) -> [usize; N] {
    if let Some(extent) = shape.get_mut(axis) {
        *extent = 1;
    }
    shape
}

/// Adds to `out` the sum of all elements.
///
/// # Shapes
/// `input`: any, `out: []`.
#[codelet(
    R, REDUX,
    shape(out = []),
    blocks = simd::BLOCK,
    flops = input.len(),
    cuda = crate::kernels::SUM,
    gradient = adjoint(super::sum_backward),
    reference = crate::reference::reduce::sum,
    error = sum(n = input.len() + 1)
)]
pub fn sum<T: Real>(input: &[T], mut out: ArrayViewMut0<T::Compute>) {
    out[[]] += simd::sum(input);
}

/// `out = ` the sum of all elements, divided by their number; NaN if there are none.
///
/// # Shapes
/// `input`: any, `out: []`.
#[codelet(
    R, W,
    shape(out = []),
    flops = input.len(),
    cuda = crate::kernels::MEAN,
    gradient = adjoint(super::mean_backward),
    reference = crate::reference::reduce::mean,
    error = sum(n = input.len() + 1)
)]
pub fn mean<T: Real>(input: &[T], mut out: ArrayViewMut0<T>) {
    out[[]] = T::narrow(mean_of(input));
}

/// Raises `out` to the largest element; NaN if one is NaN, [`Element::LOWEST`] if there is none.
///
/// # Shapes
/// `input`: any, `out: []`.
#[codelet(
    R, REDUX(max),
    shape(out = []),
    flops = input.len(),
    cuda = crate::kernels::MAX,
    gradient = max_gradient(input),
    reference = crate::reference::reduce::max,
    error = rounded
)]
pub fn max<T: Element>(input: &[T], mut out: ArrayViewMut0<T>) {
    out[[]] = out[[]].maximum(simd::max(input));
}

fn max_gradient<T: Real, const N: usize>(rule: MaxGradient<'_, T, N>) -> dahl::Result<()> {
    let Some(by_input) = rule.by_input else { return Ok(()) };
    *by_input = super::max_backward_init(rule.scope, rule.input, rule.gradient)?;
    Ok(())
}

/// Lowers `out` to the smallest element; NaN if one is NaN, [`Element::HIGHEST`] if there is none.
///
/// # Shapes
/// `input`: any, `out: []`.
#[codelet(
    R, REDUX(min),
    shape(out = []),
    flops = input.len(),
    cuda = crate::kernels::MIN,
    gradient = min_gradient(input),
    reference = crate::reference::reduce::min,
    error = rounded
)]
pub fn min<T: Element>(input: &[T], mut out: ArrayViewMut0<T>) {
    out[[]] = out[[]].minimum(simd::min(input));
}

fn min_gradient<T: Real, const N: usize>(rule: MinGradient<'_, T, N>) -> dahl::Result<()> {
    let Some(by_input) = rule.by_input else { return Ok(()) };
    *by_input = super::min_backward_init(rule.scope, rule.input, rule.gradient)?;
    Ok(())
}

/// Adds to `out` the sums along `axis`.
///
/// # Shapes
/// `out` as `input`, with extent 1 at `axis`.
#[codelet(
    R, REDUX,
    shape(out = reduced(input.shape(), axis)),
    check(axis < input.shape().len()),
    rows(axis),
    flops = input.len(),
    cuda = crate::kernels::SUM_AXIS,
    gradient = adjoint(super::sum_axis_backward),
    reference = crate::reference::reduce::sum_axis,
    error = sum(n = input.shape()[axis] + 1)
)]
pub fn sum_axis<T: Real>(input: ArrayViewD<T>, out: ArrayViewMutD<T::Compute>, axis: usize) {
    let extents = around(input.shape(), axis);
    let input = row_major(&input);
    write(out, |out| add_sums(elements(&input), extents, out));
}

/// `out = ` the means along `axis`; NaN if its extent is 0.
///
/// # Shapes
/// `out` as `input`, with extent 1 at `axis`.
#[codelet(
    R, W,
    shape(out = reduced(input.shape(), axis)),
    check(axis < input.shape().len()),
    rows(axis),
    flops = input.len(),
    cuda = crate::kernels::MEAN_AXIS,
    gradient = adjoint(super::mean_axis_backward),
    reference = crate::reference::reduce::mean_axis,
    error = sum(n = input.shape()[axis] + 1)
)]
pub fn mean_axis<T: Real>(input: ArrayViewD<T>, out: ArrayViewMutD<T>, axis: usize) {
    let extents = around(input.shape(), axis);
    let input = row_major(&input);
    let count = <T::Compute as Real>::from_f64(extents[1] as f64);
    with_scratch([out.len()], |[sums]: [&mut [T::Compute]; 1]| {
        sums.fill(T::Compute::ZERO);
        add_sums(elements(&input), extents, sums);
        for sum in sums.iter_mut() {
            *sum /= count;
        }
        // The sum may have overflowed, though the mean does not.
        for (lane, mean) in sums.iter_mut().enumerate().filter(|(_, mean)| !mean.is_finite()) {
            *mean = mean_of_lane(elements(&input), extents, lane);
        }
        write(out, |out| T::narrow_slice(sums, out));
    });
}

/// The mean of one of the lanes along the middle of `[before, extent, after]`.
fn mean_of_lane<T: Real>(values: &[T], [_, extent, after]: [usize; 3], lane: usize) -> T::Compute {
    let first = lane / after * extent * after + lane % after;
    with_scratch([extent], |[elements]: [&mut [T]; 1]| {
        // There may be no values.
        let values = values.get(first..).unwrap_or_default();
        for (to, from) in elements.iter_mut().zip(values.iter().step_by(after)) {
            *to = *from;
        }
        mean_of(elements)
    })
}

/// Raises each element of `out` to the maximum along `axis`; NaN where one is NaN.
///
/// # Shapes
/// `out` as `input`, with extent 1 at `axis`.
#[codelet(
    R, REDUX(max),
    shape(out = reduced(input.shape(), axis)),
    check(axis < input.shape().len()),
    rows(axis),
    flops = input.len(),
    cuda = crate::kernels::MAX_AXIS,
    gradient = max_axis_gradient(input),
    reference = crate::reference::reduce::max_axis,
    error = rounded
)]
pub fn max_axis<T: Element>(input: ArrayViewD<T>, out: ArrayViewMutD<T>, axis: usize) {
    fold_axis(input, out, axis, T::maximum, simd::max);
}

fn max_axis_gradient<T: Real, const N: usize>(rule: MaxAxisGradient<'_, T, N>) -> dahl::Result<()> {
    let Some(by_input) = rule.by_input else { return Ok(()) };
    *by_input = super::max_axis_backward_init(rule.scope, rule.input, rule.gradient, rule.axis)?;
    Ok(())
}

/// Lowers each element of `out` to the minimum along `axis`; NaN where one is NaN.
///
/// # Shapes
/// `out` as `input`, with extent 1 at `axis`.
#[codelet(
    R, REDUX(min),
    shape(out = reduced(input.shape(), axis)),
    check(axis < input.shape().len()),
    rows(axis),
    flops = input.len(),
    cuda = crate::kernels::MIN_AXIS,
    gradient = min_axis_gradient(input),
    reference = crate::reference::reduce::min_axis,
    error = rounded
)]
pub fn min_axis<T: Element>(input: ArrayViewD<T>, out: ArrayViewMutD<T>, axis: usize) {
    fold_axis(input, out, axis, T::minimum, simd::min);
}

fn min_axis_gradient<T: Real, const N: usize>(rule: MinAxisGradient<'_, T, N>) -> dahl::Result<()> {
    let Some(by_input) = rule.by_input else { return Ok(()) };
    *by_input = super::min_axis_backward_init(rule.scope, rule.input, rule.gradient, rule.axis)?;
    Ok(())
}

/// Combines each element of `out` with those of `input` along `axis`.
#[inline(always)]
fn fold_axis<T: Element>(
    input: ArrayViewD<'_, T>,
    out: ArrayViewMutD<'_, T>,
    axis: usize,
    combine: impl Fn(T, T) -> T,
    combine_all: impl Fn(&[T]) -> T,
) {
    let [_, extent, after] = around(input.shape(), axis);
    let input = row_major(&input);
    let input = elements(&input);
    if input.is_empty() {
        return;
    }
    write(out, |out| {
        for (out, block) in out.chunks_exact_mut(after).zip(input.chunks_exact(extent * after)) {
            if let [out] = out {
                *out = combine(*out, combine_all(block));
                continue;
            }
            for row in block.chunks_exact(after) {
                for (out, &value) in out.iter_mut().zip(row) {
                    *out = combine(*out, value);
                }
            }
        }
    });
}
