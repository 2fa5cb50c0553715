//! [`dropout`]: sets random elements to zero.

use dahl::prelude::*;

use super::Philox;
use crate::cpu::philox::{Distribution, Fill};

/// The numbers that are drawn at a time.
const BLOCK: usize = 1024;

/// `out[i] = 0` with the given probability, else `input[i] / (1 - probability)` (Srivastava et al. 2014, *Dropout*). Element
/// `i` is kept if number `i` of [`uniform`](super::uniform()) in `f32` between 0 and 1, from the same numbers, is not below
/// the probability. So the gradient is the same operation, and no mask is stored.
///
/// # Shapes
/// `out` as `input`, of any shape.
#[codelet(
    R, W,
    shape(out = input),
    check((0.0..1.0).contains(&probability)),
    flops = input.len(),
    cuda = crate::kernels::DROPOUT,
    gradient = adjoint(dropout),
    reference = crate::reference::dropout::dropout,
    error = ulp(2)
)]
pub fn dropout<T: Real>(input: &[T], out: &mut [T], probability: f64, numbers: Philox) {
    let factor = T::Compute::from_f64(1.0 / (1.0 - probability));
    let limit = probability as f32;
    let mut drawn = [0.0_f32; BLOCK];
    let mut offset = numbers.offset;
    for (input, out) in input.chunks(BLOCK).zip(out.chunks_mut(BLOCK)) {
        let drawn = &mut drawn[..input.len()];
        let distribution = Distribution::Uniform { low: 0.0, high: 1.0 };
        dahl::simd::dispatch(Fill { out: &mut *drawn, distribution, seed: numbers.seed, offset });
        offset = offset.wrapping_add(drawn.len() as u64);
        for ((out, input), drawn) in out.iter_mut().zip(input).zip(&*drawn) {
            *out = if *drawn < limit { T::ZERO } else { T::narrow(input.widen() * factor) };
        }
    }
}
