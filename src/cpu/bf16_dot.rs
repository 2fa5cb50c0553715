//! The bf16 dot product (`vdpbf16ps` of AVX512-BF16): the instruction multiplies two pairs of `bf16` and adds both
//! products to an `f32`. This module has its operands, and says for which numbers it is exact.
//!
//! The instruction treats subnormal factors and sums as zeros, whatever the thread's settings are. So it only receives
//! factors for which no sum can be subnormal. A product of two multiples of `2^-62`, as elements from `2^-55` on are,
//! is a multiple of `2^-124`. Sums of such products are as well, and the least normal `f32` is `2^-126`. Also, no part
//! of a sum may overflow where the sum does not, in whatever order the products are added: elements from `2^55` on take
//! other loops.

#[cfg(target_arch = "x86_64")]
use std::{env, sync::LazyLock};

use dahl_core::simd::{Vectorised, dispatch};
use half::bf16;

/// Two elements that one instruction multiplies, with the same number of another pair.
pub(crate) type Pair = [bf16; 2];

/// The smallest magnitude other than zero that the instruction may be given.
const LEAST: bf16 = bf16::from_bits((127 - 55) << 7);

/// The smallest magnitude that is too large for it.
const MOST: bf16 = bf16::from_bits((127 + 55) << 7);

/// Whether this machine has the instruction. AVX-512 F, BW and VL, which its code also uses, are part of that level.
#[cfg(target_arch = "x86_64")]
pub(crate) fn is_supported() -> bool {
    use dahl_core::simd::{Level, level};
    level() == Level::V4 && std::arch::is_x86_feature_detected!("avx512bf16")
}

/// Whether this machine has the instruction.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn is_supported() -> bool {
    false
}

/// Whether vectors of pairs are faster here than vectors of `f32`, if the machine [multiplies them](is_supported).
/// Measured: AMD's Zen 4 and Zen 5 do twice as many operations in pairs, Intel's Sapphire Rapids and Emerald Rapids
/// half as many. The program does not measure it, since sums in pairs round differently. If `DAHL_SIMD` names a level,
/// pairs are used, since no level names a processor.
#[cfg(target_arch = "x86_64")]
pub(crate) fn is_fast() -> bool {
    use dahl_core::simd::{Vendor, vendor};
    static IS_FAST: LazyLock<bool> =
        LazyLock::new(|| vendor() != Vendor::Intel || env::var_os("DAHL_SIMD").is_some());
    *IS_FAST
}

/// Whether vectors of pairs are faster here than vectors of `f32`.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn is_fast() -> bool {
    false
}

/// Whether products of these elements, and sums of the products, are exact but for rounding.
pub(crate) fn are_exact(elements: &[bf16]) -> bool {
    /// [`are_exact`] in vectors.
    struct AreExact<'a>(&'a [bf16]);
    impl Vectorised for AreExact<'_> {
        type Output = bool;

        #[inline(always)]
        fn run(self) -> bool {
            // The inner loop has no early exit, so that it is vectorised.
            self.0.chunks(4096).all(|elements| {
                elements.iter().fold(true, |are_exact, &element| are_exact & is_exact(element))
            })
        }
    }
    dispatch(AreExact(elements))
}

/// [`are_exact`] of one.
#[inline(always)]
pub(crate) fn is_exact(element: bf16) -> bool {
    let magnitude = element.to_bits() & 0x7fff;
    (magnitude == 0) | ((magnitude >= LEAST.to_bits()) & (magnitude < MOST.to_bits()))
}

/// Whether sums may begin with these: all are multiples of `2^-124`, as sums of products are.
pub(crate) fn are_exact_sums(sums: &[f32]) -> bool {
    /// [`are_exact_sums`] in vectors.
    struct AreExact<'a>(&'a [f32]);
    impl Vectorised for AreExact<'_> {
        type Output = bool;

        #[inline(always)]
        fn run(self) -> bool {
            const WHOLE: f32 = f32::from_bits((127 + 124) << 23); // 2^124
            self.0.chunks(4096).all(|sums| {
                sums.iter().fold(true, |are_exact, &sum| {
                    let scaled = sum * WHOLE;
                    are_exact & ((scaled.trunc() == scaled) | sum.is_nan())
                })
            })
        }
    }
    dispatch(AreExact(sums))
}

/// `to[i] = [even[i], odd[i]]`, for each element of `even`. To be called only where the machine [multiplies
/// pairs](is_supported), which implies these instructions.
///
/// Written with intrinsics: rows are short, so most of their elements would be in the remainder of a vectorised loop.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code, reason = "loads and stores take pointers")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
#[inline]
pub(crate) fn interleave(even: &[bf16], odd: &[bf16], to: &mut [Pair]) {
    use std::arch::x86_64::{
        _mm256_maskz_loadu_epi16, _mm512_cvtepu16_epi32, _mm512_mask_storeu_epi32, _mm512_or_si512,
        _mm512_slli_epi32,
    };
    const LANES: usize = 16;
    let (odd, to) = (&odd[..even.len()], &mut to[..even.len()]);
    let parts = even.chunks(LANES).zip(odd.chunks(LANES)).zip(to.chunks_mut(LANES));
    for ((even, odd), to) in parts {
        let mask = ((1_u32 << even.len()) - 1) as u16;
        // SAFETY: the mask selects the elements of `even`, at most 16,
        let even = unsafe { _mm256_maskz_loadu_epi16(mask, even.as_ptr().cast()) };
        // SAFETY: and `odd` has as many.
        let odd = unsafe { _mm256_maskz_loadu_epi16(mask, odd.as_ptr().cast()) };
        let odd = _mm512_slli_epi32::<16>(_mm512_cvtepu16_epi32(odd));
        let pairs = _mm512_or_si512(_mm512_cvtepu16_epi32(even), odd);
        // SAFETY: so has `to`.
        unsafe { _mm512_mask_storeu_epi32(to.as_mut_ptr().cast(), mask, pairs) };
    }
}

/// The same bits, as the type that the instruction takes.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code, reason = "there is no safe conversion")]
#[inline(always)]
pub(crate) fn in_pairs(vector: std::arch::x86_64::__m512i) -> std::arch::x86_64::__m512bh {
    // SAFETY: both are 64 bytes, and any of their bits are valid.
    unsafe { std::mem::transmute(vector) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_elements_are_not_exact() {
        let least = 2.0_f32.powi(-55);
        let exact = [0.0, -0.0, least, -least, 1.0, 2.0_f32.powi(54)].map(bf16::from_f32);
        assert!(are_exact(&exact));
        for small in [bf16::from_bits(1), bf16::from_f32(-1e-38), bf16::from_bits(LEAST.to_bits() - 1)] {
            assert!(!are_exact(&[bf16::ONE, small]), "{small:e}");
        }
        let unit = 2.0_f32.powi(-124);
        for small in [f32::from_bits(1), -1e-38, unit * 1.5, unit / 2.0] {
            assert!(!are_exact_sums(&[1.0, small]), "{small:e}");
        }
        assert!(are_exact_sums(&[0.0, -1.0, -unit, 3.0 * unit, 1e-20, f32::MAX, f32::NAN, f32::INFINITY]));
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    #[allow(unsafe_code, reason = "a target feature")]
    fn elements_of_lines_of_any_length_come_side_by_side() {
        if !is_supported() {
            return;
        }
        for len in 0..70 {
            let line = |first| (first..first + len).map(bf16::from_bits).collect::<Vec<_>>();
            let (even, odd) = (line(1), line(1000));
            let mut to = vec![[bf16::NAN; 2]; usize::from(len) + 1];
            // SAFETY: a machine with the instruction has these features.
            unsafe { interleave(&even, &odd, &mut to) };
            let (to, behind) = to.split_at(len.into());
            for (place, pair) in to.iter().enumerate() {
                assert_eq!(*pair, [even[place], odd[place]], "{place} of {len}");
            }
            assert!(behind[0][0].is_nan() && behind[0][1].is_nan());
        }
    }

    #[test]
    fn large_elements_are_left_to_others() {
        for large in [2.0_f32.powi(55), f32::MAX, f32::NEG_INFINITY, f32::NAN] {
            assert!(!are_exact(&[bf16::ONE, bf16::from_f32(large)]), "{large:e}");
        }
    }
}
