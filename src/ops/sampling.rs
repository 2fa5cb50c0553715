//! Random numbers of further distributions: [`bernoulli`], [`exponential`], [`gumbel`], and classes drawn by their
//! logits ([`categorical`]).
//!
//! As for [`uniform`](super::uniform()), each element is a function of the seed and its index alone. Nothing flows
//! through them.

use dahl::ndarray::{ArrayView2, ArrayViewMut1};
use dahl::prelude::*;

use super::Philox;
use crate::cpu::philox::{Distribution, Fill};

/// The numbers that are drawn at a time.
const BLOCK: usize = 1024;

/// Calls `take` with the index of each of `count` elements and its number, uniform in the half-open interval from 0 to
/// 1, which it excludes.
#[inline(always)]
fn for_each_uniform(count: usize, numbers: Philox, mut take: impl FnMut(usize, f64)) {
    let mut drawn = [0.0_f64; BLOCK];
    let distribution = Distribution::Uniform { low: 0.0, high: 1.0 };
    for first in (0..count).step_by(BLOCK) {
        let out = &mut drawn[..BLOCK.min(count - first)];
        let offset = numbers.offset.wrapping_add(first as u64);
        dahl::simd::dispatch(Fill { out: &mut *out, distribution, seed: numbers.seed, offset });
        for (i, number) in out.iter().enumerate() {
            take(first + i, *number);
        }
    }
}

/// The exponentially distributed number that a uniform one stands for, by the inverse of the distribution. It is above
/// 0 also for 0, which stands for the smaller half of its interval.
#[inline(always)]
fn waiting_time(uniform: f64) -> f64 {
    const HALF: f64 = 1.0 / (1_u64 << 54) as f64;
    -Real::ln_1p(-Real::max(uniform, HALF))
}

/// `out[i] = 1` with probability `probabilities[i]`, else 0. A probability that is not from 0 to 1 fails the task.
///
/// # Shapes
/// `out` as `probabilities`, of any shape.
#[codelet(R, W, shape(out = probabilities), cpu_only, gradient = none)]
pub fn bernoulli<T: Real>(probabilities: &[T], out: &mut [T], numbers: Philox) {
    for_each_uniform(out.len(), numbers, |i, number| {
        let probability = probabilities[i].to_f64();
        assert!((0.0..=1.0).contains(&probability), "element {i}, {probability}, is not a probability");
        out[i] = if number < probability { T::ONE } else { T::ZERO };
    });
}

/// Whether numbers are drawn at this rate, or by logits over this temperature.
fn is_positive(number: f64) -> bool {
    number.is_finite() && number > 0.0
}

/// Fills `out` with independent, exponentially distributed numbers, with density `rate * exp(-rate * x)` and mean
/// `1 / rate`.
#[codelet(W, check(is_positive(rate)), cpu_only, gradient = none)]
pub fn exponential<T: Real>(out: &mut [T], rate: f64, numbers: Philox) {
    for_each_uniform(out.len(), numbers, |i, number| out[i] = T::from_f64(waiting_time(number) / rate));
}

/// Fills `out` with independent numbers of the standard Gumbel distribution, `-ln(e)` of exponentially distributed `e`
/// (Gumbel 1935).
#[codelet(W, cpu_only, gradient = none)]
pub fn gumbel<T: Real>(out: &mut [T], numbers: Philox) {
    for_each_uniform(out.len(), numbers, |i, number| out[i] = T::from_f64(-Real::ln(waiting_time(number))));
}

/// `out[i] = ` a class, drawn with the probabilities `softmax(logits[i] / temperature)`: that with the largest
/// `logits[i, j] / temperature + g`, where `g` is element `i * classes + j` of [`gumbel`] (Maddison, Tarlow and Minka
/// 2014, *A\* Sampling*, section 2).
///
/// Logits of minus infinity exclude their class. A row in which all are, or one is NaN or plus infinity, fails the task. For
/// the class with the largest logit, as a temperature of 0 would give, there is [`arg_max`](super::arg_max).
///
/// ```
/// use dahl::ops::{Philox, categorical_init};
/// use dahl::prelude::*;
///
/// # fn main() -> dahl::Result<()> {
/// let rt = Runtime::new()?;
/// let arena = rt.arena();
/// let logits = arena.from_slice([2, 3], &[0.0_f32, f32::NEG_INFINITY, f32::NEG_INFINITY, 1.0, 90.0, 2.0])?;
/// assert_eq!(categorical_init(&arena, &logits, 0.8, Philox::new(1))?.to_vec()?, [0, 1]);
/// # Ok(())
/// # }
/// ```
///
/// # Shapes
/// `logits: [batch, classes]`, `out: [batch]`.
#[codelet(
    R, W,
    shape(out = [logits.nrows()]),
    check(logits.ncols() > 0),
    check(is_positive(temperature)),
    cpu_only,
    gradient = none
)]
pub fn categorical<T: Real>(
    logits: ArrayView2<T>,
    mut out: ArrayViewMut1<u32>,
    temperature: f64,
    numbers: Philox,
) {
    let classes = logits.ncols();
    let mut best = f64::NEG_INFINITY;
    for_each_uniform(logits.len(), numbers, |i, number| {
        let (sample, class) = (i / classes, i % classes);
        let logit = logits[[sample, class]].to_f64();
        assert!(
            logit < f64::INFINITY,
            "logit {logit} of class {class} of sample {sample} has no probability"
        );
        if class == 0 {
            best = f64::NEG_INFINITY;
        }
        let score = logit / temperature - Real::ln(waiting_time(number));
        if score > best {
            best = score;
            out[sample] = class as u32;
        }
        assert!(class + 1 < classes || best > f64::NEG_INFINITY, "sample {sample} has no class to draw");
    });
}
