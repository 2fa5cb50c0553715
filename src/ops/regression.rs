//! Regression losses, and their gradients.
//!
//! `factor` is the weight of each element: one over the number of elements gives the mean over a batch, also when the
//! batch is processed in parts, each with the whole batch's factor. Differences and sums are computed in the compute
//! type.

use dahl::prelude::*;
use dahl::simd;

use crate::cpu::scratch::with_scratch;
use crate::reference::regression as reference;

/// Differences that are computed at a time: they stay in the first-level cache.
const BLOCK: usize = 2048;

/// Adds to `out` the squared errors of all elements, `factor * sum of (x[i] - y[i])^2`.
///
/// # Shapes
/// `x`, the prediction, and `y`, the target, of one shape, `out: []`.
#[codelet(R, R, REDUX, shape(out = []), check(x.shape() == y.shape()), flops = 3 * x.len(),
    cuda = crate::kernels::MEAN_SQUARED_ERROR,
    gradient = mean_squared_error_gradient(x, y),
    reference = reference::mean_squared_error, error = sum(n = x.len(), terms = reference::mean_squared_error_magnitude))]
pub fn mean_squared_error<T: Real>(x: &[T], y: &[T], out: &mut [T::Compute], factor: f64) {
    let factor = <T::Compute as Real>::from_f64(factor);
    out[0] += sum_of_blocks(x, y, |differences: &mut [T::Compute], scaled: &mut [T::Compute]| {
        // The factor goes in before the square, which could overflow where the product does not.
        for (scaled, difference) in scaled.iter_mut().zip(&*differences) {
            *scaled = factor * *difference;
        }
        simd::dot(differences, scaled)
    });
}

fn mean_squared_error_gradient<T: Real, const N: usize>(
    rule: MeanSquaredErrorGradient<'_, T, N>,
) -> dahl::Result<()> {
    let MeanSquaredErrorGradient { x, y, gradient, by_x, by_y, factor, scope } = rule;
    let gradient = gradient.reshaped([1; N])?;
    for (by, factor) in [(by_x, factor), (by_y, -factor)] {
        let Some(by) = by else { continue };
        let of_one = mean_squared_error_backward_init(scope, x, y, factor)?;
        *by = super::mul_init(scope, &of_one, &*gradient)?;
    }
    Ok(())
}

/// The gradient of [`mean_squared_error`] by `x`: `out = 2 * factor * (x - y)`.
// The factor, the difference and the product.
#[codelet(R, R, W, in_place = x, reference = reference::mean_squared_error_backward, error = ulp(2.5))]
pub fn mean_squared_error_backward<T: Real>(x: T, y: T, factor: f64) -> T {
    T::from_f64(factor + factor) * (x - y)
}

/// Adds to `out` the absolute errors of all elements, `factor * sum of |x[i] - y[i]|`.
///
/// # Shapes
/// `x`, the prediction, and `y`, the target, of one shape, `out: []`.
#[codelet(R, R, REDUX, shape(out = []), check(x.shape() == y.shape()), flops = 3 * x.len(),
    cuda = crate::kernels::MEAN_ABSOLUTE_ERROR,
    gradient = mean_absolute_error_gradient(x, y),
    reference = reference::mean_absolute_error, error = sum(n = x.len(), terms = reference::mean_absolute_error_magnitude))]
pub fn mean_absolute_error<T: Real>(x: &[T], y: &[T], out: &mut [T::Compute], factor: f64) {
    let factor = <T::Compute as Real>::from_f64(factor);
    out[0] += sum_of_blocks(x, y, |differences: &mut [T::Compute], _: &mut [T::Compute]| {
        for difference in &mut *differences {
            *difference = factor * difference.abs();
        }
        simd::sum(differences)
    });
}

fn mean_absolute_error_gradient<T: Real, const N: usize>(
    rule: MeanAbsoluteErrorGradient<'_, T, N>,
) -> dahl::Result<()> {
    let MeanAbsoluteErrorGradient { x, y, gradient, by_x, by_y, factor, scope } = rule;
    let gradient = gradient.reshaped([1; N])?;
    for (by, factor) in [(by_x, factor), (by_y, -factor)] {
        let Some(by) = by else { continue };
        let of_one = mean_absolute_error_backward_init(scope, x, y, factor)?;
        *by = super::mul_init(scope, &of_one, &*gradient)?;
    }
    Ok(())
}

/// The gradient of [`mean_absolute_error`] by `x`: `out = factor` where `x > y`, `-factor` where `x < y`, 0 where they are equal;
/// NaN beside NaN.
// The factor, rounded to the compute type.
#[codelet(R, R, W, in_place = x, reference = reference::mean_absolute_error_backward, error = rounded)]
pub fn mean_absolute_error_backward<T: Real>(x: T, y: T, factor: f64) -> T {
    if x > y {
        T::from_f64(factor)
    } else if x < y {
        -T::from_f64(factor)
    } else {
        // 0, or NaN.
        if x == y { T::ZERO } else { T::NAN }
    }
}

/// The squared error of each element, `out = (x - y)^2`.
// The difference, twice in the square, and the square.
#[codelet(R, R, W, reference = reference::squared_error, error = ulp(2))]
pub fn squared_error<T: Real>(x: T, y: T) -> T {
    (x - y) * (x - y)
}

/// The absolute error of each element, `out = |x - y|`.
#[codelet(R, R, W, reference = reference::absolute_error, error = ulp(1))]
pub fn absolute_error<T: Real>(x: T, y: T) -> T {
    (x - y).abs()
}

/// The sum of `combine` over the differences of each block. Its second buffer is as long, with unspecified contents.
#[inline(always)]
fn sum_of_blocks<T: Real>(
    x: &[T],
    y: &[T],
    combine: impl Fn(&mut [T::Compute], &mut [T::Compute]) -> T::Compute,
) -> T::Compute {
    let blocks = x.len().div_ceil(BLOCK);
    with_scratch([BLOCK, BLOCK, blocks], |[left, right, sums]: [&mut [T::Compute]; 3]| {
        for ((x, y), sum) in x.chunks(BLOCK).zip(y.chunks(BLOCK)).zip(&mut *sums) {
            let (left, right) = (&mut left[..x.len()], &mut right[..x.len()]);
            T::widen_slice(x, left);
            T::widen_slice(y, right);
            for (left, right) in left.iter_mut().zip(&*right) {
                *left -= *right;
            }
            *sum = combine(left, right);
        }
        simd::sum(sums)
    })
}
