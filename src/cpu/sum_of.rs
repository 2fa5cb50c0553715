//! Sums of a function of the elements, and statistics computed from them: [`sum_of`], [`variance_of`], [`norm_of`].

use dahl_core::{Element, Real, simd};

use super::scratch::with_scratch;

/// Elements that are widened at a time; they stay in the first-level cache.
const BLOCK: usize = 4096;

/// The sum of `f(value)`, in the compute type: pairwise in blocks, and pairwise over their sums.
#[inline(always)]
pub(crate) fn sum_of<T: Real>(values: &[T], f: impl Fn(T::Compute) -> T::Compute) -> T::Compute {
    let lengths = [values.len().min(BLOCK), values.len().div_ceil(BLOCK)];
    with_scratch(lengths, |[terms, sums]: [&mut [T::Compute]; 2]| {
        for (sum, values) in sums.iter_mut().zip(values.chunks(BLOCK)) {
            let terms = &mut terms[..values.len()];
            T::widen_slice(values, terms);
            for term in &mut *terms {
                *term = f(*term);
            }
            *sum = simd::sum(terms);
        }
        sum_of_blocks(sums)
    })
}

/// The sum of `f(a, b)` over pairs of elements, in the compute type, added as by [`sum_of`].
#[inline(always)]
pub(crate) fn sum_of_two<T: Real>(
    a: &[T],
    b: &[T],
    f: impl Fn(T::Compute, T::Compute) -> T::Compute,
) -> T::Compute {
    assert_eq!(a.len(), b.len());
    let block = a.len().min(BLOCK);
    with_scratch([block, block, a.len().div_ceil(BLOCK)], |[terms, others, sums]: [&mut [T::Compute]; 3]| {
        for (sum, (a, b)) in sums.iter_mut().zip(a.chunks(BLOCK).zip(b.chunks(BLOCK))) {
            let (terms, others) = (&mut terms[..a.len()], &mut others[..a.len()]);
            T::widen_slice(a, terms);
            T::widen_slice(b, others);
            for (term, other) in terms.iter_mut().zip(&*others) {
                *term = f(*term, *other);
            }
            *sum = simd::sum(terms);
        }
        sum_of_blocks(sums)
    })
}

/// The sums of `(value - centre)^2` and of `value - centre`, in the compute type, added as by [`sum_of`].
#[inline(always)]
pub(crate) fn moments_around<T: Real>(values: &[T], centre: T::Compute) -> [T::Compute; 2] {
    let blocks = values.len().div_ceil(BLOCK);
    let lengths = [values.len().min(BLOCK), blocks, blocks];
    with_scratch(lengths, |[terms, squares, rests]: [&mut [T::Compute]; 3]| {
        for ((square, rest), values) in squares.iter_mut().zip(&mut *rests).zip(values.chunks(BLOCK)) {
            let terms = &mut terms[..values.len()];
            T::widen_slice(values, terms);
            for term in &mut *terms {
                *term -= centre;
            }
            (*square, *rest) = (simd::dot(terms, terms), simd::sum(terms));
        }
        [squares, rests].map(|sums| sum_of_blocks(sums))
    })
}

/// The sum of the sums of blocks.
#[inline(always)]
fn sum_of_blocks<C: Real<Compute = C>>(sums: &[C]) -> C {
    let sum = if let [sum] = sums { *sum } else { simd::sum(sums) };
    sum + C::ZERO
}

/// The mean, not rounded to `T`; NaN if there are no values.
#[inline(always)]
pub(crate) fn mean_of<T: Real>(values: &[T]) -> T::Compute {
    let count = T::Compute::from_f64(values.len() as f64);
    let mean = simd::sum(values) / count;
    // The sum may overflow where the mean does not.
    if mean.is_finite() || values.is_empty() { mean } else { sum_of(values, |value| value / count) }
}

/// The largest absolute value; NaN if one is NaN.
#[inline(always)]
pub(crate) fn magnitude_of<T: Real>(values: &[T]) -> T::Compute {
    simd::max(values).widen().abs().maximum(simd::min(values).widen().abs())
}

/// `sum of (value - mean)^2 / (count - correction)`; NaN or infinite if there are no more values than the correction.
#[inline(always)]
pub(crate) fn variance_of<T: Real>(values: &[T], correction: usize) -> T::Compute {
    let degrees = T::Compute::from_f64(values.len().saturating_sub(correction) as f64);
    let variance = squares_around_mean(values, |value| value) / degrees;
    if variance.is_finite() || degrees == T::Compute::ZERO {
        return variance;
    }
    let unit = magnitude_of(values);
    let scaled =
        if unit.is_finite() { squares_around_mean(values, |value| value / unit) } else { T::Compute::NAN };
    scaled / degrees * unit * unit
}

/// `sum of (f(value) - mean of f(value))^2`, by the corrected two-pass algorithm: the error of the mean has no effect
/// to first order (Chan, Golub and LeVeque 1983, *Algorithms for Computing the Sample Variance*, equation 1.7).
#[inline(always)]
fn squares_around_mean<T: Real>(values: &[T], f: impl Fn(T::Compute) -> T::Compute + Copy) -> T::Compute {
    let count = T::Compute::from_f64(values.len() as f64);
    let mean = sum_of(values, f) / count;
    let squares = sum_of(values, |value| (f(value) - mean) * (f(value) - mean));
    let rest = sum_of(values, |value| f(value) - mean);
    (squares - rest * (rest / count)).maximum(T::Compute::ZERO)
}

/// Replaces each value by the gradient of [`variance_of`] by it, `factor * 2 * (value - mean) / (count - correction)`.
#[inline(always)]
pub(crate) fn variance_gradient<C: Real<Compute = C>>(values: &mut [C], correction: usize, factor: C) {
    let degrees = C::from_f64(values.len().saturating_sub(correction) as f64);
    let mean = mean_of(&*values);
    let rest = sum_of(&*values, |value| value - mean) / C::from_f64(values.len() as f64);
    let factor = factor * C::from_f64(2.0) / degrees;
    for value in values {
        *value = (*value - mean - rest) * factor;
    }
}

/// `sqrt(sum of value^2)`. Where the squares overflow or lose digits to underflow, the values are divided by the largest
/// first (Higham, *Accuracy and Stability of Numerical Algorithms*, section 27.8).
#[inline(always)]
pub(crate) fn norm_of<T: Real>(values: &[T]) -> T::Compute {
    let squares = simd::dot(values, values);
    // Each square that underflows has an error of at most half the smallest subnormal number: together negligible
    // beside this.
    let enough = T::Compute::MIN_POSITIVE * T::Compute::from_f64(values.len() as f64);
    if squares.is_finite() && squares >= enough {
        return squares.sqrt();
    }
    let largest = magnitude_of(values);
    if values.is_empty() || largest == T::Compute::ZERO {
        T::Compute::ZERO
    } else if largest.is_finite() {
        sum_of(values, |value| (value / largest) * (value / largest)).sqrt() * largest
    } else {
        largest
    }
}
