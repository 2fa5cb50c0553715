//! `f16` to `f32` and back by the machine's own instructions, F16C of x86-64 and AVX-512.
//!
//! The results are those of the portable conversions (`element::conversion`), bit by bit. The instructions round to
//! nearest even as asked, whatever the thread's rounding mode, and keep subnormal numbers.

#![allow(unsafe_code, reason = "calls instructions that a level has, where the level is proved")]
#![cfg_attr(not(target_arch = "x86_64"), allow(unused_variables, reason = "there are no such instructions"))]

use super::At;

/// The same value, where the level has F16C. A loop over it is vectorised.
#[inline(always)]
pub(crate) fn widen<const LEVEL: u8>(_: At<LEVEL>, x: u16) -> Option<f32> {
    #[cfg(target_arch = "x86_64")]
    if At::<LEVEL>::HAS_V3 {
        // SAFETY: `widen` requires F16C, and the token proves that the machine has it (invariant L2).
        return Some(unsafe { x86_64::widen(x) });
    }
    None
}

/// `to[i] = ` the bits of the `f16` nearest to `from[i]`; false where the level has no F16C, and nothing is done.
#[inline(always)]
pub(crate) fn narrow_slice<const LEVEL: u8>(_: At<LEVEL>, from: &[f32], to: &mut [u16]) -> bool {
    #[cfg(target_arch = "x86_64")]
    if At::<LEVEL>::HAS_V4 {
        let (blocks, rest) = from.as_chunks::<16>();
        let (to_blocks, to_rest) = to[..from.len()].as_chunks_mut::<16>();
        for (from, to) in blocks.iter().zip(to_blocks) {
            // SAFETY: it requires AVX-512 F, and the token proves that the machine has it (invariant L2).
            unsafe { x86_64::narrow_16(from, to) };
        }
        if !rest.is_empty() {
            let (mut from, mut to) = ([0.0; 16], [0; 16]);
            from[..rest.len()].copy_from_slice(rest);
            // SAFETY: as above.
            unsafe { x86_64::narrow_16(&from, &mut to) };
            to_rest.copy_from_slice(&to[..rest.len()]);
        }
    } else if At::<LEVEL>::HAS_V3 {
        let (blocks, rest) = from.as_chunks::<8>();
        let (to_blocks, to_rest) = to[..from.len()].as_chunks_mut::<8>();
        for (from, to) in blocks.iter().zip(to_blocks) {
            // SAFETY: it requires F16C, and the token proves that the machine has it (invariant L2).
            unsafe { x86_64::narrow_8(from, to) };
        }
        if !rest.is_empty() {
            let (mut from, mut to) = ([0.0; 8], [0; 8]);
            from[..rest.len()].copy_from_slice(rest);
            // SAFETY: as above.
            unsafe { x86_64::narrow_8(&from, &mut to) };
            to_rest.copy_from_slice(&to[..rest.len()]);
        }
    }
    At::<LEVEL>::HAS_V3
}

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use std::arch::x86_64::{
        _MM_FROUND_NO_EXC, _MM_FROUND_TO_NEAREST_INT, _mm_cvtph_ps, _mm_cvtsi32_si128, _mm_cvtss_f32,
        _mm_storeu_si128, _mm256_cvtps_ph, _mm256_loadu_ps, _mm256_storeu_si256, _mm512_cvtps_ph,
        _mm512_loadu_ps,
    };

    /// Written with the instruction for four; the compiler knows it and makes vectors of what is around.
    #[inline]
    #[target_feature(enable = "f16c")]
    pub(super) fn widen(x: u16) -> f32 {
        _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(i32::from(x))))
    }

    #[inline]
    #[target_feature(enable = "f16c")]
    pub(super) fn narrow_8(from: &[f32; 8], to: &mut [u16; 8]) {
        // SAFETY: it reads the eight numbers of `from`, at any alignment.
        let wide = unsafe { _mm256_loadu_ps(from.as_ptr()) };
        let narrow = _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(wide);
        // SAFETY: it writes the 16 bytes of `to`, at any alignment.
        unsafe { _mm_storeu_si128(to.as_mut_ptr().cast(), narrow) };
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn narrow_16(from: &[f32; 16], to: &mut [u16; 16]) {
        // SAFETY: it reads the sixteen numbers of `from`, at any alignment.
        let wide = unsafe { _mm512_loadu_ps(from.as_ptr()) };
        let narrow = _mm512_cvtps_ph::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(wide);
        // SAFETY: it writes the 32 bytes of `to`, at any alignment.
        unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), narrow) };
    }
}

#[cfg(test)]
mod tests {
    use half::f16;

    use super::*;
    use crate::element::Real;
    use crate::simd::{Vectorised, dispatch};

    /// Compares both conversions with the portable ones; whether the level has them.
    struct Compare;

    impl Vectorised for Compare {
        type Output = bool;

        fn run(self) -> bool {
            self.run_at(At::BASELINE)
        }

        fn run_at<const LEVEL: u8>(self, at: At<LEVEL>) -> bool {
            if !At::<LEVEL>::HAS_V3 {
                assert_eq!(widen(at, 0), None);
                return false;
            }
            for bits in 0..=u16::MAX {
                let expected = f16::from_bits(bits).widen();
                assert_eq!(widen(at, bits).map(f32::to_bits), Some(expected.to_bits()), "{bits:#x}");
            }
            // All that decides the result: the bits that stay, the first that goes, and whether others are set.
            for high in 0..=u32::MAX >> 12 {
                let from = [0, 1, 0x7ff, 0x800, 0x801, 0xfff].map(|low| f32::from_bits(high << 12 | low));
                let mut to = [0; 6];
                assert!(narrow_slice(at, &from, &mut to));
                for (from, to) in from.iter().zip(to) {
                    assert_eq!(to, f16::narrow(*from).to_bits(), "{:#x}", from.to_bits());
                }
            }
            true
        }
    }

    #[test]
    fn instructions_have_the_results_of_the_portable_conversions() {
        let is_there = dispatch(Compare);
        assert_eq!(is_there, cfg!(target_arch = "x86_64") && crate::simd::level() >= crate::simd::Level::V3);
    }

    #[test]
    fn slices_of_every_length_are_narrowed_whole() {
        struct Narrow(usize);
        impl Vectorised for Narrow {
            type Output = ();

            fn run(self) {
                self.run_at(At::BASELINE);
            }

            fn run_at<const LEVEL: u8>(self, at: At<LEVEL>) {
                let from: Vec<f32> = (0..self.0).map(|i| i as f32 * 0.37 - 3.0).collect();
                let mut to = vec![0xffff; self.0 + 1];
                if narrow_slice(at, &from, &mut to[..self.0]) {
                    assert!(from.iter().zip(&to).all(|(from, to)| f16::narrow(*from).to_bits() == *to));
                    assert_eq!(to[self.0], 0xffff);
                } else {
                    assert!(to.iter().all(|&to| to == 0xffff));
                }
            }
        }
        for len in 0..70 {
            dispatch(Narrow(len));
        }
    }
}
