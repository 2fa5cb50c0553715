//! References for the ops: test data, error bounds, and naive loops in `f64`, which share no code with the ops.

use dahl::ndarray::{Array4, ArrayD, ArrayView4, ArrayViewD, Axis, IxDyn};
use dahl::prelude::*;

/// Numbers of a fixed pseudo-random sequence (SplitMix64), uniform in `-2 .. 2`, rounded to `T`.
pub(crate) fn numbers<T: Real>(count: usize, seed: u64) -> Vec<T> {
    let bits = |index: u64| {
        let mut z = index.wrapping_add(seed << 32).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    };
    (1..=count as u64).map(|index| T::from_f64(bits(index) as f64 / (1_u64 << 62) as f64 - 2.0)).collect()
}

/// An array of [`numbers`].
pub(crate) fn array<T: Real, const N: usize>(
    rt: &Runtime,
    shape: [usize; N],
    seed: u64,
) -> Array<'static, T, N> {
    rt.from_vec(shape, numbers(shape.iter().product(), seed)).unwrap()
}

/// The elements of an array, exactly, for the reference.
pub(crate) fn exact<T: Real, const N: usize>(array: &Array<'_, T, N>) -> ArrayD<f64> {
    let values = array.to_vec().unwrap().into_iter().map(T::to_f64).collect();
    ArrayD::from_shape_vec(IxDyn(&array.shape()), values).unwrap()
}

/// The unit roundoff of `T`.
pub(crate) fn unit<T: Real>() -> f64 {
    T::EPSILON.to_f64() / 2.0
}

/// The largest relative error of a sum of `terms` products, `n u / (1 - n u)` (Higham, *Accuracy and Stability of
/// Numerical Algorithms*, section 3.1).
pub(crate) fn gamma(terms: usize, unit: f64) -> f64 {
    let error = terms as f64 * unit;
    assert!(error < 1.0, "so many terms have no error bound");
    error / (1.0 - error)
}

/// Asserts that `actual` is `expected` up to one rounding to `T` of a result that was computed in the compute type with
/// `terms` roundings, each at most of a number of `magnitude`:
/// `|actual - expected| <= u(T) |expected| + (1 + u(T)) gamma(terms, u(Compute)) magnitude + smallest(T)`.
#[track_caller]
pub(crate) fn assert_close<T: Real>(actual: T, expected: f64, magnitude: f64, terms: usize) {
    let computing = gamma(terms, unit::<T::Compute>()) * magnitude;
    let smallest = T::MIN_POSITIVE.to_f64() * T::EPSILON.to_f64();
    let bound = unit::<T>() * expected.abs() + (1.0 + unit::<T>()) * computing + smallest;
    let error = (actual.to_f64() - expected).abs();
    let is_same = actual == T::from_f64(expected) || actual.is_nan() && expected.is_nan();
    assert!(is_same || error <= bound, "{}: {actual}, not {expected}: error {error:e} > {bound:e}", T::NAME);
}

/// [`assert_close`] for all elements of an array, with the magnitudes of their terms.
#[track_caller]
pub(crate) fn assert_all_close<T: Real, const N: usize>(
    actual: &Array<'_, T, N>,
    expected: &ArrayD<f64>,
    magnitude: &ArrayD<f64>,
    terms: usize,
) {
    assert_eq!(actual.shape().as_slice(), expected.shape());
    for ((actual, &expected), &magnitude) in actual.to_vec().unwrap().into_iter().zip(expected).zip(magnitude)
    {
        assert_close(actual, expected, magnitude, terms);
    }
}

/// Asserts that a call failed because of shapes, and that the message names the op and each of `parts`.
#[track_caller]
pub(crate) fn assert_refused<R>(result: dahl::Result<R>, parts: &[&str]) {
    let message = result.err().expect("wrong shapes are refused at the call").to_string();
    for part in parts {
        assert!(message.contains(part), "`{part}` is not in: {message}");
    }
    assert!(message.contains("tests/ops/"), "the caller's file is not in: {message}");
}

/// Combines the elements along `axis`, which keeps extent 1.
pub(crate) fn along(input: &ArrayD<f64>, axis: usize, combine: impl Fn(&[f64]) -> f64) -> ArrayD<f64> {
    input.map_axis(Axis(axis), |lane| combine(&lane.to_vec())).insert_axis(Axis(axis))
}

/// The matrix product.
pub(crate) fn matmul(a: ArrayViewD<'_, f64>, b: ArrayViewD<'_, f64>) -> ArrayD<f64> {
    let (rows, inner, cols) = (a.shape()[0], a.shape()[1], b.shape()[1]);
    let mut out = ArrayD::zeros(IxDyn(&[rows, cols]));
    for i in 0..rows {
        for j in 0..cols {
            for k in 0..inner {
                out[[i, j]] += a[[i, k]] * b[[k, j]];
            }
        }
    }
    out
}

/// How a kernel moves over an image.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moves {
    pub(crate) kernel: [usize; 2],
    pub(crate) stride: [usize; 2],
    pub(crate) padding: [usize; 2],
}

impl Moves {
    /// The number of positions along each axis, counted.
    pub(crate) fn positions(&self, image: [usize; 2]) -> [usize; 2] {
        [0, 1].map(|axis| {
            (0..)
                .take_while(|i| {
                    i * self.stride[axis] + self.kernel[axis] <= image[axis] + 2 * self.padding[axis]
                })
                .count()
        })
    }

    /// The pixel under kernel element `tap` at `position`, if it is on the image.
    pub(crate) fn pixel(
        &self,
        image: [usize; 2],
        position: [usize; 2],
        tap: [usize; 2],
    ) -> Option<[usize; 2]> {
        let place = [0, 1].map(|axis| {
            (position[axis] * self.stride[axis] + tap[axis])
                .checked_sub(self.padding[axis])
                .filter(|&p| p < image[axis])
        });
        Some([place[0]?, place[1]?])
    }

    /// Calls `f(output index, filter index, input index)` for every product of a convolution.
    pub(crate) fn for_each_product(
        &self,
        input: [usize; 4],
        out_channels: usize,
        mut f: impl FnMut([usize; 4], [usize; 4], [usize; 4]),
    ) {
        let [batch, in_channels, rows, cols] = input;
        let [out_rows, out_cols] = self.positions([rows, cols]);
        for n in 0..batch {
            for filter in 0..out_channels {
                for r in 0..out_rows {
                    for c in 0..out_cols {
                        for channel in 0..in_channels {
                            for i in 0..self.kernel[0] {
                                for j in 0..self.kernel[1] {
                                    if let Some([row, col]) = self.pixel([rows, cols], [r, c], [i, j]) {
                                        f([n, filter, r, c], [filter, channel, i, j], [n, channel, row, col]);
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Images or filters of four axes.
pub(crate) fn four(array: &ArrayD<f64>) -> ArrayView4<'_, f64> {
    array.view().into_dimensionality().unwrap()
}

/// An array of zeros of four axes.
pub(crate) fn zeros(shape: [usize; 4]) -> Array4<f64> {
    Array4::zeros(shape)
}

/// Asserts that an `f32` result is the expected one: to six digits, zeros with their signs, NaN where NaN is expected.
#[track_caller]
pub(crate) fn assert_value(op: &str, inputs: &[f64], actual: f32, expected: f64) {
    let error = (f64::from(actual) - expected).abs();
    let is_right = if expected.is_nan() {
        actual.is_nan()
    } else if expected == 0.0 || expected.is_infinite() {
        f64::from(actual).to_bits() == expected.to_bits()
    } else {
        // With an absolute tolerance of two smallest subnormal numbers.
        error <= 1e-6 * expected.abs() + 3e-45
    };
    assert!(is_right, "{op}{inputs:?}: {actual}, not {expected}");
}
