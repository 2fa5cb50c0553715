//! Seeded random numbers: [`uniform`] and [`normal`].
//!
//! Each element is a function of the seed and its index alone (Philox4x32-10; Salmon, Moraes, Dror and Shaw 2011,
//! *Parallel Random Numbers: As Easy as 1, 2, 3*), so the numbers do not depend on how an array is divided or on the
//! number of workers. Nor do they depend on the device, but that the sine and cosine in [`normal`] are the device's own, which
//! may differ in the last bit of an `f64`. Numbers are made in `f64` and rounded once: all element types hold the same ones.

use dahl::prelude::*;

use crate::cpu::philox::{Distribution, Fill};

/// Fills `out` with independent numbers, uniform between `low` and `high`; rounding to the element type may reach
/// `high`.
///
/// `offset` is the index of the first element in the sequence of `seed`: 0 for a whole array; for a part along the
/// first axis, the number of elements before it.
#[codelet(W, cuda = crate::kernels::UNIFORM)]
pub fn uniform<T: Real>(out: &mut [T], low: f64, high: f64, seed: u64, offset: u64) {
    dahl::simd::dispatch(Fill { out, distribution: Distribution::Uniform { low, high }, seed, offset });
}

/// Fills `out` with independent normal numbers of the given mean and standard deviation (Box and Muller 1958, *A Note
/// on the Generation of Random Normal Deviates*).
///
/// `offset` is as for [`uniform`].
#[codelet(W, cuda = crate::kernels::NORMAL)]
pub fn normal<T: Real>(out: &mut [T], mean: f64, deviation: f64, seed: u64, offset: u64) {
    dahl::simd::dispatch(Fill { out, distribution: Distribution::Normal { mean, deviation }, seed, offset });
}
