//! [`softmax`] and [`log_softmax`] along an axis.
//!
//! Both subtract the largest element first, so that nothing overflows (Goodfellow, Bengio and Courville 2016, *Deep
//! Learning*, section 4.1). A line with a NaN or with plus infinity becomes NaN.

use dahl::ndarray::{ArrayViewD, ArrayViewMutD};
use dahl::prelude::*;
use dahl::simd;

use crate::cpu::row_major::{around, map_lanes, write};
use crate::cpu::scratch::with_scratch;

/// `out[i] = exp(input[i]) / sum of exp(input[j])`, along `axis`.
///
/// # Shapes
/// `input` and `out` of one shape.
#[codelet(R, W, shape(out = input), check(axis < input.shape().len()), flops = 5 * input.len())]
pub fn softmax<T: Real>(input: ArrayViewD<T>, out: ArrayViewMutD<T>, axis: usize) {
    let extents = around(input.shape(), axis);
    let input = input.as_standard_layout();
    write(out, |out| {
        map_lanes(input.as_slice().unwrap_or(&[]), extents, out, |lane| {
            exp_of_differences(lane);
            let sum = simd::sum(lane);
            for value in lane {
                *value /= sum;
            }
        });
    });
}

/// `out[i] = input[i] - ln(sum of exp(input[j]))`, along `axis`: the logarithm of [`softmax`].
///
/// # Shapes
/// `input` and `out` of one shape.
#[codelet(R, W, shape(out = input), check(axis < input.shape().len()), flops = 5 * input.len())]
pub fn log_softmax<T: Real>(input: ArrayViewD<T>, out: ArrayViewMutD<T>, axis: usize) {
    let extents = around(input.shape(), axis);
    let input = input.as_standard_layout();
    write(out, |out| {
        map_lanes(input.as_slice().unwrap_or(&[]), extents, out, |lane| {
            let (max, logarithm) = log_sum_exp(lane);
            for value in lane {
                *value = (*value - max) - logarithm;
            }
        });
    });
}

/// Replaces each element by `exp(element - largest)`.
#[inline(always)]
pub(crate) fn exp_of_differences<C: Real<Compute = C>>(lane: &mut [C]) {
    let max = simd::max(lane);
    for value in lane {
        *value = (*value - max).exp();
    }
}

/// `(max, ln(sum of exp(element - max)))`, whose sum is the logarithm of the sum of exponentials. Kept apart because
/// their sum rounds away what is small beside a large maximum.
#[inline(always)]
pub(crate) fn log_sum_exp<C: Real<Compute = C>>(lane: &[C]) -> (C, C) {
    let max = simd::max(lane);
    let sum = with_scratch([lane.len()], |[powers]: [&mut [C]; 1]| {
        for (power, value) in powers.iter_mut().zip(lane) {
            *power = (*value - max).exp();
        }
        simd::sum(powers)
    });
    (max, sum.ln())
}
