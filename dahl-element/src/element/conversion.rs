//! Conversions between half precision and `f32`, without branches, so that loops over them vectorise.
//!
//! The `half` crate's own conversions branch on the class of the number, or call an instruction behind a run-time
//! check; either stops the vectoriser, and a loop is some 30 times slower than over `f32`. These consist of integer
//! arithmetic, one floating-point addition and selects. The results are those of the crate and of the F16C
//! instructions, bit by bit; signalling NaN become quiet ones with the same payload.
//!
//! The method for `f16` is F. Giesen's (`half_to_float_fast5`, `float_to_half_fast3_rtne`, 2012,
//! <https://gist.github.com/rygorous/2156668>), with selects in the place of branches and NaN payloads kept.

use half::{bf16, f16};

/// The bits of `f32` infinity.
const F32_INFINITY: u32 = 0x7f80_0000;
/// The bit that makes an `f32` NaN a quiet one.
const F32_QUIET: u32 = 0x0040_0000;
/// The bits of the mantissa that `f32` has in addition to those of `f16`.
const F16_SHIFT: u32 = 23 - 10;
/// The difference of the exponents' biases, in its place in an `f32`.
const F16_BIAS: u32 = (127 - 15) << 23;

/// The same value; exact.
#[inline(always)]
pub(super) fn f16_to_f32(x: f16) -> f32 {
    let x = u32::from(x.to_bits());
    let sign = (x & 0x8000) << 16;
    let magnitude = (x & 0x7fff) << F16_SHIFT;
    let exponent = magnitude & (0x7c00 << F16_SHIFT);
    let normal = magnitude + F16_BIAS;
    // The exponent of a subnormal counts as 1: set it, and subtract the leading one that this adds.
    let smallest = f32::from_bits(F16_BIAS + (1 << 23));
    let subnormal = (f32::from_bits(normal + (1 << 23)) - smallest).to_bits();
    let nan = if magnitude > (0x7c00 << F16_SHIFT) { F32_QUIET } else { 0 };
    let special = (normal + F16_BIAS) | nan;
    let finite = if exponent == 0 { subnormal } else { normal };
    let magnitude = if exponent == (0x7c00 << F16_SHIFT) { special } else { finite };
    f32::from_bits(magnitude | sign)
}

/// The nearest `f16`, ties to even; overflow becomes infinity.
#[inline(always)]
pub(super) fn f32_to_f16(x: f32) -> f16 {
    let x = x.to_bits();
    let sign = (x >> 16) & 0x8000;
    let magnitude = x & 0x7fff_ffff;
    // Half an ULP minus one, plus the last bit that remains: the carry rounds to nearest, ties to even. It also carries
    // from the largest number to infinity.
    let last = (magnitude >> F16_SHIFT) & 1;
    let normal = magnitude.wrapping_sub(F16_BIAS).wrapping_add(0xfff + last) >> F16_SHIFT;
    // In a sum with 2^-1 the last bit of an f32 is 2^-24, the last bit of a subnormal f16, so the addition rounds
    // correctly.
    let aligned = (f32::from_bits(magnitude) + 0.5).to_bits();
    let subnormal = aligned.wrapping_sub(0.5_f32.to_bits());
    let nan = 0x7e00 | ((magnitude >> F16_SHIFT) & 0x3ff);
    let finite = if magnitude < (127 - 14) << 23 { subnormal } else { normal };
    let finite = if magnitude >= (127 + 16) << 23 { 0x7c00 } else { finite };
    let magnitude = if magnitude > F32_INFINITY { nan } else { finite };
    f16::from_bits((magnitude | sign) as u16)
}

/// The same value; exact.
#[inline(always)]
pub(super) fn bf16_to_f32(x: bf16) -> f32 {
    let wide = f32::from_bits(u32::from(x.to_bits()) << 16);
    if wide.is_nan() { f32::from_bits(wide.to_bits() | F32_QUIET) } else { wide }
}

/// The nearest `bf16`, ties to even; overflow becomes infinity.
#[inline(always)]
pub(super) fn f32_to_bf16(x: f32) -> bf16 {
    let bits = x.to_bits();
    let last = (bits >> 16) & 1;
    let rounded = bits.wrapping_add(0x7fff + last);
    let result = if x.is_nan() { bits | F32_QUIET } else { rounded };
    bf16::from_bits((result >> 16) as u16)
}

/// `x` rounded to odd as an `f32`, so that rounding it further gives the same as rounding `x`.
///
/// An inexact result is the neighbour whose last bit is one. As `f32` has at least two bits more than the type that it
/// is then rounded to, both roundings together give the result of one (Boldo and Melquiond, *Emulation of FMA and
/// correctly rounded sums: proved algorithms using rounding to odd*, 2008).
#[inline(always)]
pub(super) fn f64_to_f32_odd(x: f64) -> f32 {
    let nearest = x as f32;
    let bits = nearest.to_bits();
    let magnitude = f64::from(nearest).abs();
    let even = bits & 1 == 0;
    let down = even && magnitude > x.abs();
    let up = even && magnitude < x.abs();
    f32::from_bits(if down { bits - 1 } else { bits + u32::from(up) })
}
