//! [`softmax`] and [`log_softmax`] along an axis.
//!
//! Both subtract the largest element first, so that nothing overflows (Goodfellow, Bengio and Courville 2016, *Deep
//! Learning*, section 4.1). A lane with a NaN or with plus infinity becomes NaN.

use dahl::ndarray::{ArrayViewD, ArrayViewMutD};
use dahl::prelude::*;
use dahl::simd;

use crate::cpu::gemm::Cores;
use crate::cpu::position::position;
use crate::cpu::row_major::{MapOfLanes, around, elements, map_lanes_on, row_major, write};
use crate::cpu::scratch::with_scratch;

/// `out[i] = exp(input[i]) / sum of exp(input[j])`, along `axis`.
///
/// # Shapes
/// `input` and `out` of one shape.
#[codelet(
    R, W,
    shape(out = input),
    check(axis < input.shape().len()),
    rows(axis),
    flops = 5 * input.len(),
    parallel = softmax_on_cores,
    cuda = crate::kernels::SOFTMAX,
    gradient = softmax_gradient(out),
    reference = crate::reference::softmax::softmax,
    error = sum(n = input.shape()[axis] + 16, terms = crate::reference::softmax::softmax_terms)
)]
pub fn softmax<T: Real>(input: ArrayViewD<T>, out: ArrayViewMutD<T>, axis: usize) {
    lanes_on(Cores::One, input, out, axis, OfSoftmax);
}

/// [`softmax`] on several cores, which share the lanes.
fn softmax_on_cores<T: Real>(input: ArrayViewD<T>, out: ArrayViewMutD<T>, axis: usize) {
    lanes_on(Cores::Pool, input, out, axis, OfSoftmax);
}

/// [`softmax_lanes`].
#[derive(Clone, Copy)]
struct OfSoftmax;

impl MapOfLanes for OfSoftmax {
    #[inline(always)]
    fn map<C: Real<Compute = C>>(self, lanes: &mut [C], extent: usize) {
        softmax_lanes(lanes, extent);
    }
}

/// [`log_softmax_lanes`].
#[derive(Clone, Copy)]
struct OfLogSoftmax;

impl MapOfLanes for OfLogSoftmax {
    #[inline(always)]
    fn map<C: Real<Compute = C>>(self, lanes: &mut [C], extent: usize) {
        log_softmax_lanes(lanes, extent);
    }
}

/// Maps the lanes along `axis`, on one core or on several.
fn lanes_on<T: Real>(
    cores: Cores,
    input: ArrayViewD<'_, T>,
    out: ArrayViewMutD<'_, T>,
    axis: usize,
    map: impl MapOfLanes,
) {
    let extents = around(input.shape(), axis);
    let input = row_major(&input);
    write(out, |out| map_lanes_on(cores, elements(&input), extents, out, map));
}

fn softmax_gradient<T: Real, const N: usize>(rule: SoftmaxGradient<'_, T, N>) -> dahl::Result<()> {
    let Some(by_input) = rule.by_input else { return Ok(()) };
    *by_input = super::softmax_backward_init(rule.scope, rule.out, rule.gradient, rule.axis)?;
    Ok(())
}

/// `out[i] = input[i] - ln(sum of exp(input[j]))`, along `axis`: the logarithm of [`softmax`].
///
/// # Shapes
/// `input` and `out` of one shape.
#[codelet(
    R, W,
    shape(out = input),
    check(axis < input.shape().len()),
    rows(axis),
    flops = 5 * input.len(),
    parallel = log_softmax_on_cores,
    cuda = crate::kernels::LOG_SOFTMAX,
    gradient = log_softmax_gradient(out),
    reference = crate::reference::softmax::log_softmax,
    error = sum(n = input.shape()[axis] + 16, terms = crate::reference::softmax::log_softmax_terms)
)]
pub fn log_softmax<T: Real>(input: ArrayViewD<T>, out: ArrayViewMutD<T>, axis: usize) {
    lanes_on(Cores::One, input, out, axis, OfLogSoftmax);
}

/// [`log_softmax`] on several cores, which share the lanes.
fn log_softmax_on_cores<T: Real>(input: ArrayViewD<T>, out: ArrayViewMutD<T>, axis: usize) {
    lanes_on(Cores::Pool, input, out, axis, OfLogSoftmax);
}

fn log_softmax_gradient<T: Real, const N: usize>(rule: LogSoftmaxGradient<'_, T, N>) -> dahl::Result<()> {
    let Some(by_input) = rule.by_input else { return Ok(()) };
    *by_input = super::log_softmax_backward_init(rule.scope, rule.out, rule.gradient, rule.axis)?;
    Ok(())
}

/// [`softmax`] of each `extent` elements.
#[inline(always)]
pub(crate) fn softmax_lanes<C: Real<Compute = C>>(lanes: &mut [C], extent: usize) {
    exponentiate(lanes, extent);
    for lane in lanes.chunks_exact_mut(extent) {
        let reciprocal = sum(lane).recip();
        for value in lane {
            *value *= reciprocal;
        }
    }
}

/// [`log_softmax`] of each `extent` elements.
#[inline(always)]
pub(crate) fn log_softmax_lanes<C: Real<Compute = C>>(lanes: &mut [C], extent: usize) {
    subtract_largest(lanes, extent);
    with_scratch([lanes.len()], |[powers]: [&mut [C]; 1]| {
        powers.copy_from_slice(lanes);
        C::exp_below_slice(powers, C::ZERO);
        for (lane, powers) in lanes.chunks_exact_mut(extent).zip(powers.chunks_exact_mut(extent)) {
            // The largest element's term is 1. Without it the sum keeps its digits where it is small. A lane that has no
            // finite largest element is NaN.
            if let Some(largest) = position(lane, C::ZERO) {
                powers[largest] = C::ZERO;
            }
            let logarithm = sum(powers).ln_1p();
            for value in lane {
                *value -= logarithm;
            }
        }
    });
}

/// `lane[i] = exp(lane[i] - largest)`, for each `extent` elements.
#[inline(always)]
pub(super) fn exponentiate<C: Real<Compute = C>>(lanes: &mut [C], extent: usize) {
    if extent >= SHORT {
        for lane in lanes.chunks_exact_mut(extent) {
            C::exp_below_slice(lane, largest(lane));
        }
    } else {
        // The exponentials of all lanes in one loop: a lane alone does not fill the vectors.
        subtract_largest(lanes, extent);
        C::exp_below_slice(lanes, C::ZERO);
    }
}

#[inline(always)]
fn subtract_largest<C: Real>(lanes: &mut [C], extent: usize) {
    for lane in lanes.chunks_exact_mut(extent) {
        let largest = largest(lane);
        for value in lane {
            *value -= largest;
        }
    }
}

/// Shorter lines are summed one element after the other: the tree of [`simd::sum`] does not pay.
const SHORT: usize = 32;

#[inline(always)]
fn sum<C: Real<Compute = C>>(lane: &[C]) -> C {
    if lane.len() < SHORT { lane.iter().fold(C::ZERO, |sum, value| sum + *value) } else { simd::sum(lane) }
}

#[inline(always)]
fn largest<C: Real>(lane: &[C]) -> C {
    if lane.len() >= SHORT {
        return simd::max(lane);
    }
    // NaN remains: a comparison with it is false. The sign of zero does not change a difference.
    lane.iter().fold(
        C::NEG_INFINITY,
        |largest, &value| {
            if value > largest || value.is_nan() { value } else { largest }
        },
    )
}
