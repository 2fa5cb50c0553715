//! [`normalized`]: rows divided by their deviation from their mean, or from zero; and the gradients.

use dahl_core::simd::{PastCaches, past_caches};
use dahl_core::{Element, Real, simd};

use super::compute::computes_in_itself;
use super::gemm::Cores;
use super::row_major::add_sums;
use super::scratch::with_scratch;
use super::shared_rows::{share_parts, share_rows};
use super::sum_of::{magnitude_of, mean_of};

/// What the elements of a row are measured from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Centre {
    /// Their mean, which is subtracted.
    Mean,
    /// Zero.
    Zero,
}

/// The factors of a row whose centre is subtracted.
#[derive(Clone, Copy)]
struct Factors<C> {
    /// What the row is multiplied by.
    scale: C,
    /// The reciprocal of the root of the mean of its squares: the same, but for a row that was divided first.
    inverse: C,
}

/// `to[i] * scale = (row[i] - centre) / sqrt(mean of (row[j] - centre)^2 + epsilon)`.
///
/// The mean is subtracted first, and then the mean of what is left, so the error of the mean has no effect (Chan, Golub and
/// LeVeque 1983, *Algorithms for Computing the Sample Variance*). Where the squares overflow, or lose digits to underflow,
/// the row is divided by its largest magnitude first. The caller multiplies, in the loop that reads the row next.
#[inline(always)]
fn normalize<T: Real>(
    row: &[T],
    to: &mut [T::Compute],
    epsilon: T::Compute,
    centre: Centre,
) -> Factors<T::Compute> {
    let squares = centred_squares(row, to, centre) + epsilon;
    let enough = T::Compute::MIN_POSITIVE * T::Compute::from_f64(row.len() as f64);
    let is_in_range = squares.is_finite() && squares >= enough;
    let unit = if is_in_range { T::Compute::ONE } else { magnitude_of(row) };
    if is_in_range || unit == T::Compute::ZERO {
        let scale = squares.sqrt().recip();
        return Factors { scale, inverse: scale };
    }
    with_scratch([row.len()], |[divided]: [&mut [T::Compute]; 1]| {
        for (divided, value) in divided.iter_mut().zip(row) {
            *divided = value.widen() / unit;
        }
        let squares = centred_squares(&*divided, to, centre) + epsilon / unit / unit;
        let scale = squares.sqrt().recip();
        Factors { scale, inverse: scale / unit }
    })
}

/// Writes what the row is beside its centre; returns the mean of the squares.
#[inline(always)]
fn centred_squares<T: Real>(row: &[T], to: &mut [T::Compute], centre: Centre) -> T::Compute {
    let count = T::Compute::from_f64(row.len() as f64);
    match centre {
        Centre::Zero => T::widen_slice(row, to),
        Centre::Mean => {
            let mean = mean_of(row);
            if computes_in_itself::<T>() {
                for (to, value) in to.iter_mut().zip(row) {
                    *to = value.widen() - mean;
                }
            } else {
                T::widen_slice(row, to);
                subtract(to, mean);
            }
            let rest = simd::sum(&*to) / count;
            subtract(to, rest);
        }
    }
    simd::dot(to, to) / count
}

#[inline(always)]
fn subtract<C: Real>(values: &mut [C], subtrahend: C) {
    for value in values {
        *value -= subtrahend;
    }
}

/// The gradient of [`normalized`] by its row: replaces each value of `gradient`, that of the gradient by the result, by
/// `factor * (gradient[i] - mean of gradient - normalized[i] * mean of gradient[j] * normalized[j])`; the mean of the gradient
/// is there if the row's mean was subtracted.
#[inline(always)]
fn normalize_backward<C: Real<Compute = C>>(normalized: &[C], factor: C, gradient: &mut [C], centre: Centre) {
    let count = C::from_f64(gradient.len() as f64);
    let mean = if centre == Centre::Mean { simd::sum(&*gradient) / count } else { C::ZERO };
    let along = simd::dot(&*gradient, normalized) / count;
    for (gradient, normalized) in gradient.iter_mut().zip(normalized) {
        *gradient = (*gradient - mean - *normalized * along) * factor;
    }
}

/// Calls `f` with the number of each row of `input`, the row without its centre, and its factors.
#[inline(always)]
fn for_each_normalized<T: Real>(
    input: &[T],
    extent: usize,
    epsilon: f64,
    centre: Centre,
    mut f: impl FnMut(usize, &mut [T::Compute], Factors<T::Compute>),
) {
    with_scratch([extent], |[centred]: [&mut [T::Compute]; 1]| {
        for (number, row) in input.chunks_exact(extent.max(1)).enumerate() {
            let factors = normalize(row, centred, T::Compute::from_f64(epsilon), centre);
            f(number, centred, factors);
        }
    });
}

/// What the normalized rows are multiplied by, and what is added then.
#[derive(Clone, Copy)]
pub(crate) struct Affine<'a, T> {
    pub(crate) weight: &'a [T],
    pub(crate) bias: Option<&'a [T]>,
    pub(crate) epsilon: f64,
}

/// `out[row] = normalized(input[row]) * weight + bias`. Several cores share the rows.
pub(crate) fn normalized<T: Real>(
    cores: Cores,
    input: &[T],
    affine: Affine<'_, T>,
    centre: Centre,
    out: &mut [T],
) {
    let (extent, whole_bytes) = (affine.weight.len(), size_of_val(out));
    share_rows(cores, [extent; 2], out, |rows, out| {
        let input = &input[rows.start * extent..rows.end * extent];
        past_caches(out, whole_bytes, |out| simd::dispatch(Normalized { input, affine, centre, out }));
    });
}

/// [`normalized`] of some rows.
struct Normalized<'a, 'o, T: Real> {
    input: &'a [T],
    affine: Affine<'a, T>,
    centre: Centre,
    out: &'a mut PastCaches<'o, T>,
}

impl<T: Real> simd::Vectorised for Normalized<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { input, affine: Affine { weight, bias, epsilon }, centre, out } = self;
        with_scratch([weight.len(); 2], |[wide_weight, wide_bias]: [&mut [T::Compute]; 2]| {
            T::widen_slice(weight, wide_weight);
            bias.into_iter().for_each(|bias| T::widen_slice(bias, wide_bias));
            for_each_normalized(input, weight.len(), epsilon, centre, |_, values, Factors { scale, .. }| {
                if bias.is_some() {
                    for ((value, weight), bias) in values.iter_mut().zip(&*wide_weight).zip(&*wide_bias) {
                        *value = *value * scale * *weight + *bias;
                    }
                } else {
                    for (value, weight) in values.iter_mut().zip(&*wide_weight) {
                        *value = *value * scale * *weight;
                    }
                }
                out.narrow(values);
            });
        });
    }
}

/// The gradient of [`normalized`] by its input, of that and the gradient by the result. Several cores share the rows.
pub(crate) fn normalized_backward<T: Real>(
    cores: Cores,
    inputs: [&[T]; 2],
    affine: Affine<'_, T>,
    centre: Centre,
    out: &mut [T],
) {
    let (extent, whole_bytes) = (affine.weight.len(), size_of_val(out));
    share_rows(cores, [extent; 2], out, |rows, out| {
        let inputs = inputs.map(|input| &input[rows.start * extent..rows.end * extent]);
        past_caches(out, whole_bytes, |out| simd::dispatch(Backward { inputs, affine, centre, out }));
    });
}

/// [`normalized_backward`] of some rows.
struct Backward<'a, 'o, T: Real> {
    inputs: [&'a [T]; 2],
    affine: Affine<'a, T>,
    centre: Centre,
    out: &'a mut PastCaches<'o, T>,
}

impl<T: Real> simd::Vectorised for Backward<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { inputs: [input, gradient], affine: Affine { weight, epsilon, .. }, centre, out } = self;
        let extent = weight.len();
        with_scratch([extent; 2], |[wide_weight, gradients]: [&mut [T::Compute]; 2]| {
            T::widen_slice(weight, wide_weight);
            for_each_normalized(input, extent, epsilon, centre, |row, normalized, factors| {
                T::widen_slice(&gradient[row * extent..][..extent], gradients);
                let values = normalized.iter_mut().zip(&mut *gradients);
                for ((value, gradient), weight) in values.zip(&*wide_weight) {
                    *value *= factors.scale;
                    *gradient *= *weight;
                }
                normalize_backward(normalized, factors.inverse, gradients, centre);
                out.narrow(gradients);
            });
        });
    }
}

/// Rows that are added one after the other. [`add_sums`] adds the sums of such groups.
const GROUP: usize = 64;

/// Adds to `sums` the products of each row of `gradient` with that of `input`, normalized: the gradient by weights. Several
/// cores share the groups of rows.
pub(crate) fn add_by_weight<T: Real>(
    cores: Cores,
    [input, gradient]: [&[T]; 2],
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
        let rows = GROUP * extent;
        let inputs = [(input, rows), (gradient, rows)];
        share_parts(cores, inputs, (&mut *partial, extent), |[input, gradient], sums| {
            simd::dispatch(AddByWeight { input, gradient, sums, epsilon, centre });
        });
        add_sums(partial, [1, groups, extent], sums);
    });
}

/// The sums of the products of a group of rows.
struct AddByWeight<'a, T: Real> {
    input: &'a [T],
    gradient: &'a [T],
    sums: &'a mut [T::Compute],
    epsilon: f64,
    centre: Centre,
}

impl<T: Real> simd::Vectorised for AddByWeight<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { input, gradient, sums, epsilon, centre } = self;
        let extent = sums.len();
        sums.fill(T::Compute::ZERO);
        for_each_normalized(input, extent, epsilon, centre, |number, values, Factors { scale, .. }| {
            let gradient = &gradient[number * extent..][..extent];
            for ((sum, value), gradient) in sums.iter_mut().zip(&*values).zip(gradient) {
                *sum += *value * scale * gradient.widen();
            }
        });
    }
}
