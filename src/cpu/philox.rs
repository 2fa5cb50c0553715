//! Philox4x32-10: random numbers that are a function of a seed and a counter.
//!
//! Any part of a sequence can be computed by itself. So an array that is filled in parts, in any order and on any
//! device, holds the same numbers as one that is filled at once. Salmon, Moraes, Dror and Shaw 2011, *Parallel Random
//! Numbers: As Easy as 1, 2, 3* (SC11), section 3.4.

use dahl_core::Real;
use dahl_core::simd::Vectorised;

/// The constants of the paper: two multipliers, and the golden ratio and the square root of three less one (Weyl
/// sequences of the key).
const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
const ROUNDS: u32 = 10;

/// 128 random bits: the block cipher's image of `counter` under `key`.
#[inline(always)]
pub(crate) fn philox4x32(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    for _ in 0..ROUNDS {
        let [first, second] = [0, 1].map(|i| u64::from(MULTIPLIERS[i]) * u64::from(counter[2 * i]));
        counter = [
            (second >> 32) as u32 ^ counter[1] ^ key[0],
            second as u32,
            (first >> 32) as u32 ^ counter[3] ^ key[1],
            first as u32,
        ];
        key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
    }
    counter
}

/// Two independent numbers, uniform in `[0, 1)` with 53 bits, for each `block` of the sequence of `seed`.
#[inline(always)]
pub(crate) fn uniform_pair(seed: u64, block: u64) -> [f64; 2] {
    let [a, b, c, d] =
        philox4x32([block as u32, (block >> 32) as u32, 0, 0], [seed as u32, (seed >> 32) as u32]);
    [(a, b), (c, d)].map(|(low, high)| {
        // 26 and 27 bits as exact floating-point numbers: conversions from u32 vectorise everywhere.
        let (high, low) = (f64::from(high >> 5), f64::from(low >> 6));
        (high * f64::from(1 << 26) + low) * (1.0 / (1_u64 << 53) as f64)
    })
}

/// An index below `count`, uniform up to `count / 2^64`, from the `block` of the sequence of `seed`: the high half of a
/// product (Lemire 2019, *Fast Random Integer Generation in an Interval*, without the rejection).
pub(crate) fn index_below(count: usize, seed: u64, block: u64) -> usize {
    // The counter's high words separate this sequence from that of `Fill`.
    let [low, high, ..] =
        philox4x32([block as u32, (block >> 32) as u32, 1, 0], [seed as u32, (seed >> 32) as u32]);
    let bits = u64::from(high) << 32 | u64::from(low);
    ((u128::from(bits) * count as u128) >> 64) as usize
}

/// The number between two bounds that `u` in `[0, 1)` stands for, before it is rounded.
#[inline(always)]
fn between(low: f64, high: f64, u: f64) -> f64 {
    let width = high - low;
    // The width of an interval of finite numbers need not be finite.
    if width <= f64::MAX { low + width * u } else { low * (1.0 - u) + high * u }
}

/// The largest element below `high`, or `low` if there is none above it; both rounded to the element type.
fn last_below<T: Real>(low: f64, high: f64) -> T {
    let (low, high) = (T::from_f64(low), T::from_f64(high));
    if high > low { next_down(high).max(low) } else { low }
}

/// The largest element below `x`, which is no NaN and not negative infinity.
fn next_down<T: Real>(x: T) -> T {
    // Numbers of one sign are ordered as their bits are.
    macro_rules! by_bits {
        ($Bits:ty) => {{
            let sign: $Bits = 1 << (<$Bits>::BITS - 1);
            let bits: $Bits = bytemuck::cast(x);
            let below = match bits {
                _ if bits & !sign == 0 => sign | 1,
                _ if bits & sign == 0 => bits - 1,
                _ => bits + 1,
            };
            bytemuck::cast(below)
        }};
    }
    match size_of::<T>() {
        2 => by_bits!(u16),
        4 => by_bits!(u32),
        _ => by_bits!(u64),
    }
}

/// What a pair of uniform numbers becomes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Distribution {
    /// Uniform from one bound up to another, without it.
    Uniform { low: f64, high: f64 },
    /// Normal; by the transform of Box and Muller (1958).
    Normal { mean: f64, deviation: f64 },
}

/// Fills `out` with the elements `offset..` of the sequence of `seed`.
pub(crate) struct Fill<'a, T> {
    pub(crate) out: &'a mut [T],
    pub(crate) distribution: Distribution,
    pub(crate) seed: u64,
    pub(crate) offset: u64,
}

/// Pairs that are computed at a time.
const PAIRS: usize = 64;

impl<T: Real> Vectorised for Fill<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { mut out, distribution, seed, offset } = self;
        let mut block = offset / 2;
        let mut skipped = (offset % 2) as usize; // an odd offset begins with the second number of a pair
        let (mut first, mut second) = ([0.0_f64; PAIRS], [0.0_f64; PAIRS]);
        // Rounding may reach the end of the interval, which is not part of it.
        let (end, last) = match distribution {
            Distribution::Uniform { low, high } => (T::from_f64(high), last_below(low, high)),
            Distribution::Normal { .. } => (T::INFINITY, T::INFINITY),
        };
        while !out.is_empty() {
            for i in 0..PAIRS {
                [first[i], second[i]] = uniform_pair(seed, block.wrapping_add(i as u64));
            }
            match distribution {
                Distribution::Uniform { low, high } => {
                    for value in first.iter_mut().chain(&mut second) {
                        *value = between(low, high, *value);
                    }
                }
                Distribution::Normal { mean, deviation } => {
                    for i in 0..PAIRS {
                        let radius = deviation * Real::sqrt(-2.0 * Real::ln(1.0 - first[i])); // of (0, 1]
                        let angle = 2.0 * <f64 as Real>::PI * second[i];
                        first[i] = mean + radius * Real::cos(angle);
                        second[i] = mean + radius * Real::sin(angle);
                    }
                }
            }
            let count = out.len().min(2 * PAIRS - skipped);
            let (now, later) = out.split_at_mut(count);
            for (to, i) in now.iter_mut().zip(skipped..) {
                let value = T::from_f64(if i % 2 == 0 { first[i / 2] } else { second[i / 2] });
                *to = if value < end { value } else { last };
            }
            out = later;
            skipped = 0;
            block = block.wrapping_add(PAIRS as u64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dahl_core::{bf16, f16};

    #[test]
    fn the_next_lower_element_is_the_last_that_is_smaller() {
        fn check<T: Real>() {
            let tiny = next_down(T::ZERO).to_f64();
            assert!(tiny < 0.0 && T::from_f64(tiny / 4.0).to_f64() == 0.0);
            for x in [1.0, -1.0, 0.1, 1024.0, -0.0078, T::MAX.to_f64(), T::MIN_POSITIVE.to_f64()] {
                let x = T::from_f64(x);
                let below = next_down(x);
                assert!(below < x);
                // There is nothing between: what lies in the middle is rounded to one of the two.
                let middle = T::from_f64(below.to_f64() / 2.0 + x.to_f64() / 2.0);
                assert!(middle == below || middle == x);
            }
            assert_eq!(next_down(T::INFINITY).to_f64(), T::MAX.to_f64());
        }
        check::<f16>();
        check::<bf16>();
        check::<f32>();
        check::<f64>();
    }

    /// The known answers that the authors' library, Random123, ships (`kat_vectors`).
    #[test]
    fn known_answers() {
        let pi = [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344];
        for (counter, key, expected) in [
            ([0; 4], [0; 2], [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]),
            ([u32::MAX; 4], [u32::MAX; 2], [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]),
            (pi, [0xa409_3822, 0x299f_31d0], [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]),
        ] {
            assert_eq!(philox4x32(counter, key), expected);
        }
    }
}
