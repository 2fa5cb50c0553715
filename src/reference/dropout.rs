//! Dropout, with the same random numbers.

use dahl_core::simd::Vectorised;

use crate::cpu::philox::{Distribution, Fill};
use crate::ops::Philox;

pub(crate) fn dropout(input: &[f64], out: &mut [f64], probability: f64, numbers: Philox) {
    let mut drawn = vec![0.0_f32; input.len()];
    let distribution = Distribution::Uniform { low: 0.0, high: 1.0 };
    Fill { out: &mut drawn, distribution, seed: numbers.seed, offset: numbers.offset }.run();
    for ((out, input), drawn) in out.iter_mut().zip(input).zip(drawn) {
        *out = if f64::from(drawn) < probability { 0.0 } else { input / (1.0 - probability) };
    }
}
