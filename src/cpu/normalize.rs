//! [`normalize`]: a row divided by its deviation from its mean, or from zero.

use dahl_core::{Element, Real, simd};

use super::row_major::add_sums;
use super::scratch::with_scratch;
use super::sum_of::{magnitude_of, mean_of};

/// What the elements of a row are measured from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Centre {
    /// Their mean, which is subtracted.
    Mean,
    /// Zero.
    Zero,
}

/// `to[i] = (row[i] - centre) / sqrt(mean of (row[j] - centre)^2 + epsilon)`. Returns the reciprocal of that root.
///
/// The mean is subtracted first, and then the mean of what is left, so the error of the mean has no effect (Chan, Golub and
/// LeVeque 1983, *Algorithms for Computing the Sample Variance*). Where the squares overflow, or lose digits to underflow,
/// the row is divided by its largest magnitude first.
#[inline(always)]
pub(crate) fn normalize<T: Real>(
    row: &[T],
    to: &mut [T::Compute],
    epsilon: T::Compute,
    centre: Centre,
) -> T::Compute {
    T::widen_slice(row, to);
    let squares = centred_squares(to, centre) + epsilon;
    let enough = T::Compute::MIN_POSITIVE * T::Compute::from_f64(row.len() as f64);
    let is_in_range = squares.is_finite() && squares >= enough;
    let unit = if is_in_range { T::Compute::ONE } else { magnitude_of(row) };
    if is_in_range || unit == T::Compute::ZERO {
        return scale(to, squares);
    }
    for (to, value) in to.iter_mut().zip(row) {
        *to = value.widen() / unit;
    }
    let squares = centred_squares(to, centre) + epsilon / unit / unit;
    scale(to, squares) / unit
}

/// Subtracts the centre; returns the mean of the squares.
#[inline(always)]
fn centred_squares<C: Real<Compute = C>>(values: &mut [C], centre: Centre) -> C {
    let count = C::from_f64(values.len() as f64);
    if centre == Centre::Mean {
        let mean = mean_of(&*values);
        subtract(values, mean);
        let rest = simd::sum(&*values) / count;
        subtract(values, rest);
    }
    simd::dot(values, values) / count
}

#[inline(always)]
fn subtract<C: Real>(values: &mut [C], subtrahend: C) {
    for value in values {
        *value -= subtrahend;
    }
}

/// Multiplies by the reciprocal of the root of `squares`, and returns it.
#[inline(always)]
fn scale<C: Real<Compute = C>>(values: &mut [C], squares: C) -> C {
    let factor = squares.sqrt().recip();
    for value in values {
        *value *= factor;
    }
    factor
}

/// The gradient of [`normalize`] by its row: replaces each value of `gradient`, that of the gradient by the result, by
/// `factor * (gradient[i] - mean of gradient - normalized[i] * mean of gradient[j] * normalized[j])`; the mean of the gradient
/// is there if the row's mean was subtracted.
#[inline(always)]
pub(crate) fn normalize_backward<C: Real<Compute = C>>(
    normalized: &[C],
    factor: C,
    gradient: &mut [C],
    centre: Centre,
) {
    let count = C::from_f64(gradient.len() as f64);
    let mean = if centre == Centre::Mean { simd::sum(&*gradient) / count } else { C::ZERO };
    let along = simd::dot(&*gradient, normalized) / count;
    for (gradient, normalized) in gradient.iter_mut().zip(normalized) {
        *gradient = (*gradient - mean - *normalized * along) * factor;
    }
}

/// Calls `f` with each row of `input`, normalized, with its factor, and with its number.
#[inline(always)]
pub(crate) fn for_each_normalized<T: Real>(
    input: &[T],
    extent: usize,
    epsilon: f64,
    centre: Centre,
    mut f: impl FnMut(usize, &mut [T::Compute], T::Compute),
) {
    with_scratch([extent], |[normalized]: [&mut [T::Compute]; 1]| {
        for (number, row) in input.chunks_exact(extent.max(1)).enumerate() {
            let factor = normalize(row, normalized, T::Compute::from_f64(epsilon), centre);
            f(number, normalized, factor);
        }
    });
}

/// Rows that are added one after the other. [`add_sums`] adds the sums of such groups.
const GROUP: usize = 64;

/// Adds to `sums` the products of each row of `gradient` with that of `input`, normalized: the gradient by weights.
#[inline(always)]
pub(crate) fn add_by_weight<T: Real>(
    input: &[T],
    gradient: &[T],
    sums: &mut [T::Compute],
    epsilon: f64,
    centre: Centre,
) {
    let extent = sums.len();
    if input.is_empty() {
        return;
    }
    let groups = (input.len() / extent).div_ceil(GROUP);
    with_scratch([groups * extent], |[partial]: [&mut [T::Compute]; 1]| {
        partial.fill(T::Compute::ZERO);
        for_each_normalized(input, extent, epsilon, centre, |number, normalized, _| {
            let partial = &mut partial[number / GROUP * extent..][..extent];
            let gradient = &gradient[number * extent..][..extent];
            for ((sum, normalized), gradient) in partial.iter_mut().zip(&*normalized).zip(gradient) {
                *sum += *normalized * gradient.widen();
            }
        });
        add_sums(partial, [1, groups, extent], sums);
    });
}
