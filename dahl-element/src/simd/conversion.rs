//! Conversions in loops that are compiled for a level: of `f16` by the machine's own instructions (F16C of x86-64 and
//! AVX-512), to `bf16` by that of AVX512-BF16, of other types by `Real`.
//!
//! The instructions have the results of the portable conversions (`element::conversion`), bit by bit. They round to
//! nearest even as asked, whatever the thread's rounding mode, and keep subnormal numbers. That for `bf16` does not: what has
//! subnormal numbers is converted by `Real`.

#![allow(unsafe_code, reason = "calls instructions that a level has, where the level is proved")]

use std::any::TypeId;

use half::f16;

use super::At;
use super::level::{Loop, dispatch_loop};
use crate::element::Real;

/// Whether `T` is `f16` and the level has instructions to convert it. A compile-time constant.
#[inline(always)]
fn has_instructions<T: Real, const LEVEL: u8>(_: At<LEVEL>) -> bool {
    At::<LEVEL>::HAS_V3 && TypeId::of::<T>() == TypeId::of::<f16>()
}

/// [`Real::widen`].
#[inline(always)]
pub fn widen<T: Real, const LEVEL: u8>(at: At<LEVEL>, x: T) -> T::Compute {
    #[cfg(target_arch = "x86_64")]
    if has_instructions::<T, LEVEL>(at) {
        // SAFETY: it requires F16C. `has_instructions` is true only from V3 on, which has it, and the token proves the
        // level (invariant L2).
        return bytemuck::cast(unsafe { x86_64::widen(bytemuck::cast(x)) });
    }
    let _ = at;
    x.widen()
}

/// Whether `T` is `bf16` and the machine has the instruction that narrows to it, which not all machines of the level
/// have.
#[inline(always)]
fn narrows_to_bf16<T: Real, const LEVEL: u8>(_: At<LEVEL>) -> bool {
    #[cfg(target_arch = "x86_64")]
    if At::<LEVEL>::HAS_V4 && TypeId::of::<T>() == TypeId::of::<half::bf16>() {
        return std::arch::is_x86_feature_detected!("avx512bf16");
    }
    false
}

/// Whether one instruction narrows many numbers, so that a loop should leave that to [`narrow_block`]. (The compiler
/// selects the instruction that widens, but not this one.)
#[inline(always)]
pub fn narrows_in_blocks<T: Real, const LEVEL: u8>(at: At<LEVEL>) -> bool {
    has_instructions::<T, LEVEL>(at) || narrows_to_bf16::<T, LEVEL>(at)
}

/// `to[i] = narrow(from[i])`, for slices of equal length.
#[inline(always)]
pub fn narrow_block<T: Real, const LEVEL: u8>(at: At<LEVEL>, from: &[T::Compute], to: &mut [T]) {
    let done = if has_instructions::<T, LEVEL>(at) {
        narrow_vectors(at, bytemuck::cast_slice(from), bytemuck::cast_slice_mut(to))
    } else if TypeId::of::<T>() == TypeId::of::<half::bf16>() {
        narrow_to_bf16(at, bytemuck::cast_slice(from), bytemuck::cast_slice_mut(to))
    } else {
        0
    };
    for (to, from) in to[done..].iter_mut().zip(&from[done..]) {
        *to = T::narrow(*from);
    }
}

/// `to[i] = ` the bits of the `f16` nearest to `from[i]`, for as many elements as fill whole vectors. Returns their
/// number.
#[inline(always)]
#[cfg_attr(not(target_arch = "x86_64"), expect(unused_variables, reason = "there are no such instructions"))]
fn narrow_vectors<const LEVEL: u8>(_: At<LEVEL>, from: &[f32], to: &mut [u16]) -> usize {
    #[cfg(target_arch = "x86_64")]
    if At::<LEVEL>::HAS_V4 {
        let (vectors, rest) = from.as_chunks::<16>();
        for (from, to) in vectors.iter().zip(to.as_chunks_mut::<16>().0) {
            // SAFETY: it requires AVX-512 F, which V4 has, and the token proves the level (invariant L2).
            unsafe { x86_64::narrow_16(from, to) };
        }
        return from.len() - rest.len();
    } else if At::<LEVEL>::HAS_V3 {
        let (vectors, rest) = from.as_chunks::<8>();
        for (from, to) in vectors.iter().zip(to.as_chunks_mut::<8>().0) {
            // SAFETY: it requires F16C, which V3 has, and the token proves the level (invariant L2).
            unsafe { x86_64::narrow_8(from, to) };
        }
        return from.len() - rest.len();
    }
    0
}

/// `to[i] = ` the bits of the `bf16` nearest to `from[i]`, for as many elements as fill whole vectors. Returns their
/// number: 0 if the machine lacks the instruction, or if a number is subnormal, for which the instruction writes zero.
#[inline(always)]
#[cfg_attr(not(target_arch = "x86_64"), expect(unused_variables, reason = "there is no such instruction"))]
fn narrow_to_bf16<const LEVEL: u8>(_: At<LEVEL>, from: &[f32], to: &mut [u16]) -> usize {
    #[cfg(target_arch = "x86_64")]
    if At::<LEVEL>::HAS_V4 && std::arch::is_x86_feature_detected!("avx512bf16") {
        // SAFETY: it requires AVX512-BF16, which was detected, and AVX-512 F and DQ, which V4 has: the token proves the
        // level (invariant L2).
        let are_exact = unsafe { x86_64::narrow_to_bf16(from, to) };
        return if are_exact { from.len() / 16 * 16 } else { 0 };
    }
    0
}

/// `to[i] = from[i].widen()`, for slices of equal length.
pub(crate) fn widen_slice<T: Real>(from: &[T], to: &mut [T::Compute]) {
    struct Widen<'a, T: Real>(&'a [T], &'a mut [T::Compute]);
    impl<T: Real> Loop for Widen<'_, T> {
        type Output = ();

        #[inline(always)]
        fn run<const LEVEL: u8>(self, at: At<LEVEL>) {
            for (to, from) in self.1.iter_mut().zip(self.0) {
                *to = widen(at, *from);
            }
        }
    }
    dispatch_loop(Widen(from, to));
}

/// `to[i] = narrow(from[i])`, for slices of equal length.
pub(crate) fn narrow_slice<T: Real>(from: &[T::Compute], to: &mut [T]) {
    struct Narrow<'a, T: Real>(&'a [T::Compute], &'a mut [T]);
    impl<T: Real> Loop for Narrow<'_, T> {
        type Output = ();

        #[inline(always)]
        fn run<const LEVEL: u8>(self, at: At<LEVEL>) {
            narrow_block(at, self.0, self.1);
        }
    }
    dispatch_loop(Narrow(from, to));
}

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use std::arch::x86_64::{
        _MM_FROUND_NO_EXC, _MM_FROUND_TO_NEAREST_INT, _mm_cvtph_ps, _mm_cvtsi32_si128, _mm_cvtss_f32,
        _mm_storeu_si128, _mm256_cvtps_ph, _mm256_loadu_ps, _mm256_storeu_si256, _mm512_cvtneps_pbh,
        _mm512_cvtps_ph, _mm512_fpclass_ps_mask, _mm512_loadu_ps,
    };

    /// Uses the instruction for four numbers; the compiler knows it and vectorises the code around it.
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

    /// Narrows whole vectors of numbers to `bf16`; false if one of them is subnormal, for which the instruction writes
    /// zero. Not inlined: no level compiles loops with this instruction.
    #[target_feature(enable = "avx512f,avx512dq,avx512bf16")]
    pub(super) fn narrow_to_bf16(from: &[f32], to: &mut [u16]) -> bool {
        /// The class that `_mm512_fpclass_ps_mask` tests for.
        const SUBNORMAL: i32 = 0x20;
        let mut are_subnormal = 0;
        for (from, to) in from.as_chunks::<16>().0.iter().zip(to.as_chunks_mut::<16>().0) {
            // SAFETY: it reads the sixteen numbers of `from`, at any alignment.
            let wide = unsafe { _mm512_loadu_ps(from.as_ptr()) };
            are_subnormal |= _mm512_fpclass_ps_mask::<SUBNORMAL>(wide);
            let narrow = _mm512_cvtneps_pbh(wide);
            // SAFETY: both are 32 bytes, and any of their bits are valid.
            *to = unsafe { std::mem::transmute::<std::arch::x86_64::__m256bh, [u16; 16]>(narrow) };
        }
        are_subnormal == 0
    }
}

#[cfg(test)]
mod tests {
    use half::bf16;

    use super::*;

    #[test]
    fn slices_are_widened_as_numbers_are() {
        let halves: Vec<f16> = (0..=u16::MAX).map(f16::from_bits).collect();
        let mut wide = vec![0.0; halves.len()];
        widen_slice(&halves, &mut wide);
        for (half, wide) in halves.iter().zip(wide) {
            assert_eq!(wide.to_bits(), Real::widen(*half).to_bits(), "{:#x}", half.to_bits());
        }
    }

    #[test]
    fn slices_are_narrowed_as_numbers_are() {
        // All that determines the result: the bits that remain, the first bit that is cut off, and whether others are
        // set.
        let (mut from, mut to) = ([0.0; 16 * 6], [f16::ZERO; 16 * 6]);
        for high in (0..=u32::MAX >> 12).step_by(16) {
            for (i, from) in from.iter_mut().enumerate() {
                let low = [0, 1, 0x7ff, 0x800, 0x801, 0xfff][i % 6];
                *from = f32::from_bits((high + i as u32 / 6) << 12 | low);
            }
            narrow_slice(&from, &mut to);
            for (from, to) in from.iter().zip(to) {
                assert_eq!(to.to_bits(), <f16 as Real>::narrow(*from).to_bits(), "{:#x}", from.to_bits());
            }
        }
    }

    #[test]
    fn slices_are_narrowed_to_bf16_as_numbers_are() {
        // Subnormal numbers separately, since one of them makes the whole slice be converted in another way.
        let (mut from, mut to) = ([0.0; 16 * 6], [bf16::ZERO; 16 * 6]);
        for high in 0..=u16::MAX {
            let low = |i: usize| [0, 1, 0x7fff, 0x8000, 0x8001, 0xffff][i % 6];
            for (i, from) in from.iter_mut().enumerate() {
                *from = f32::from_bits(u32::from(high) << 16 | low(i));
            }
            narrow_slice(&from, &mut to);
            for (from, to) in from.iter().zip(to) {
                assert_eq!(to.to_bits(), <bf16 as Real>::narrow(*from).to_bits(), "{:#x}", from.to_bits());
            }
        }
    }

    #[test]
    fn subnormal_numbers_among_others_are_kept() {
        for len in [1, 15, 16, 17, 40] {
            for place in 0..len {
                let mut from: Vec<f32> = (0..len).map(|i| i as f32 * 0.37 - 3.0).collect();
                from[place] = -f32::from_bits(0x0041_8000);
                let mut to = vec![bf16::MAX; len];
                narrow_slice(&from, &mut to);
                assert!(from.iter().zip(&to).all(|(from, to)| <bf16 as Real>::narrow(*from) == *to));
                assert_eq!(to[place].to_bits(), 0x8042);
            }
        }
    }

    #[test]
    fn slices_of_every_length_are_narrowed_whole() {
        fn to<T: Real<Compute = f32>>() {
            for len in 0..70 {
                let from: Vec<f32> = (0..len).map(|i| i as f32 * 0.37 - 3.0).collect();
                let mut to = vec![T::NAN; len];
                narrow_slice(&from, &mut to);
                assert!(from.iter().zip(&to).all(|(from, to)| T::narrow(*from) == *to));
            }
        }
        to::<f16>();
        to::<bf16>();
    }

    #[test]
    fn where_a_level_has_instructions_they_narrow_whole_vectors() {
        struct Vectors;
        impl Loop for Vectors {
            type Output = (u8, usize);

            fn run<const LEVEL: u8>(self, at: At<LEVEL>) -> (u8, usize) {
                (LEVEL, narrow_vectors(at, &[1.0; 30], &mut [0; 30]))
            }
        }
        use crate::simd::Level;
        let (level, narrowed) = dispatch_loop(Vectors);
        let expected = if level == Level::V4 as u8 {
            16
        } else if level == Level::V3 as u8 {
            24
        } else {
            0
        };
        assert_eq!(narrowed, expected);
    }
}
