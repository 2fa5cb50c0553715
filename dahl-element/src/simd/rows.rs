//! [`add_rows`]: the lanes of a sum, each of which adds the elements of its place in row after row; and [`add_products`], of the
//! products of two arrays.
//!
//! It uses the machine's vectors explicitly: whether the compiler vectorises a loop over lanes depends on the code
//! around it, which makes a factor of up to ten. Each lane adds its elements in order, so the results have the same
//! bits at every level.

#![allow(unsafe_code, reason = "calls instructions that a level has, where the level is proved")]

use super::conversion::widen;
use super::level::At;
#[cfg(target_arch = "x86_64")]
use super::stream;
use crate::element::Real;

/// Elements of a row.
pub(super) const LANES: usize = 32;
/// The prefetch distance, if several pages are read alternately.
#[cfg(target_arch = "x86_64")]
const AHEAD_BYTES: usize = 640;

/// `lanes[i][j] = -0 + blocks[i][0][j] + blocks[i][1][j] + ..`, for blocks of equally many rows.
///
/// Reads the rows of several blocks alternately; they are on different pages. The processor prefetches within a page,
/// but not much beyond it: reading one page at a time leaves memory idle.
#[inline(always)]
pub(super) fn add_rows<T: Real, const PAGES: usize, const LEVEL: u8>(
    at: At<LEVEL>,
    blocks: [&[[T; LANES]]; PAGES],
    lanes: &mut [[T::Compute; LANES]; PAGES],
) {
    assert!(blocks.iter().all(|block| block.len() == blocks[0].len()));
    #[cfg(target_arch = "x86_64")]
    if x86_64::add_rows(at, blocks, lanes) {
        return;
    }
    *lanes = [[T::Compute::NEG_ZERO; LANES]; PAGES];
    for (block, lanes) in blocks.into_iter().zip(lanes) {
        for row in block {
            for (lane, x) in lanes.iter_mut().zip(row) {
                *lane += widen(at, *x);
            }
        }
    }
}

/// `lanes[j] = -0 + a[0][j] * b[0][j] + a[1][j] * b[1][j] + ..`, with each product and each sum rounded, for equally many
/// rows.
#[inline(always)]
pub(super) fn add_products<T: Real, const LEVEL: u8>(
    at: At<LEVEL>,
    a: &[[T; LANES]],
    b: &[[T; LANES]],
    lanes: &mut [T::Compute; LANES],
) {
    assert_eq!(a.len(), b.len());
    #[cfg(target_arch = "x86_64")]
    if x86_64::add_products(at, a, b, lanes) {
        return;
    }
    *lanes = [T::Compute::NEG_ZERO; LANES];
    for (a, b) in a.iter().zip(b) {
        for ((lane, a), b) in lanes.iter_mut().zip(a).zip(b) {
            *lane += widen(at, *a) * widen(at, *b);
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use std::any::TypeId;
    use std::arch::x86_64::*;

    use half::{bf16, f16};

    use super::{AHEAD_BYTES, At, LANES, Real, stream};

    /// Returns whether the level has the vectors; if so, does the work.
    #[inline(always)]
    pub(super) fn add_rows<T: Real, const PAGES: usize, const LEVEL: u8>(
        _: At<LEVEL>,
        blocks: [&[[T; LANES]]; PAGES],
        lanes: &mut [[T::Compute; LANES]; PAGES],
    ) -> bool {
        macro_rules! run {
            ($element:ty, $v4:ident, $v3:ident $(, $baseline:ident)?) => {
                if TypeId::of::<T>() == TypeId::of::<$element>() {
                    let blocks = blocks.map(|block| bytemuck::cast_slice(block));
                    let lanes = bytemuck::cast_slice_mut(lanes.as_flattened_mut());
                    if At::<LEVEL>::HAS_V4 {
                        // SAFETY: it requires AVX-512 F, which V4 has, and the token proves the level (invariant L2).
                        unsafe { $v4::<PAGES>(blocks, lanes) };
                        return true;
                    }
                    if At::<LEVEL>::HAS_V3 {
                        // SAFETY: it requires AVX2 and F16C, which V3 has, and the token proves the level (invariant L2).
                        unsafe { $v3::<PAGES>(blocks, lanes) };
                        return true;
                    }
                    $(
                        // SAFETY: it requires SSE2, which every x86-64 processor has.
                        unsafe { $baseline::<PAGES>(blocks, lanes) };
                        return true;
                    )?
                }
            };
        }
        run!(f32, f32_v4, f32_v3, f32_baseline);
        run!(f64, f64_v4, f64_v3, f64_baseline);
        run!(f16, f16_v4, f16_v3);
        run!(bf16, bf16_v4, bf16_v3, bf16_baseline);
        false
    }

    /// As [`add_rows`].
    #[inline(always)]
    pub(super) fn add_products<T: Real, const LEVEL: u8>(
        _: At<LEVEL>,
        a: &[[T; LANES]],
        b: &[[T; LANES]],
        lanes: &mut [T::Compute; LANES],
    ) -> bool {
        macro_rules! run {
            ($element:ty, $v4:ident, $v3:ident $(, $baseline:ident)?) => {
                if TypeId::of::<T>() == TypeId::of::<$element>() {
                    let (a, b) = (bytemuck::cast_slice(a), bytemuck::cast_slice(b));
                    let [lanes] = bytemuck::cast_slice_mut(lanes.as_mut_slice()) else { return false };
                    if At::<LEVEL>::HAS_V4 {
                        // SAFETY: it requires AVX-512 F, which V4 has, and the token proves the level (invariant L2).
                        unsafe { products::$v4(a, b, lanes) };
                        return true;
                    }
                    if At::<LEVEL>::HAS_V3 {
                        // SAFETY: it requires AVX2 and F16C, which V3 has, and the token proves the level (invariant L2).
                        unsafe { products::$v3(a, b, lanes) };
                        return true;
                    }
                    $(
                        // SAFETY: it requires SSE2, which every x86-64 processor has.
                        unsafe { products::$baseline(a, b, lanes) };
                        return true;
                    )?
                }
            };
        }
        run!(f32, f32_v4, f32_v3, f32_baseline);
        run!(f64, f64_v4, f64_v3, f64_baseline);
        run!(f16, f16_v4, f16_v3);
        run!(bf16, bf16_v4, bf16_v3, bf16_baseline);
        false
    }

    macro_rules! vectors {
        ($($name:ident, $features:literal, $width:literal: $element:ty => $compute:ty, $splat:ident, $add:ident, $mul:ident,
           $store:ident, |$from:ident| $load:expr;)*) => {
            /// Those of [`add_products`].
            mod products {
                use super::*;
                $(
                    #[inline]
                    #[target_feature(enable = $features)]
                    pub(super) fn $name(
                        a: &[[$element; LANES]],
                        b: &[[$element; LANES]],
                        lanes: &mut [$compute; LANES],
                    ) {
                        let mut sums = [$splat(-0.0); LANES / $width];
                        for (a, b) in a.iter().zip(b) {
                            let (a, b) = (a.as_chunks::<$width>().0, b.as_chunks::<$width>().0);
                            for i in 0..LANES / $width {
                                let $from = &a[i];
                                let left = $load;
                                let $from = &b[i];
                                let right = $load;
                                sums[i] = $add(sums[i], $mul(left, right));
                            }
                        }
                        for (lanes, sum) in lanes.as_chunks_mut::<$width>().0.iter_mut().zip(sums) {
                            // SAFETY: it writes the numbers of `lanes`, as many as the vector has, at any alignment.
                            unsafe { $store(lanes.as_mut_ptr(), sum) };
                        }
                    }
                )*
            }
            $(
            #[inline]
            #[target_feature(enable = $features)]
            fn $name<const PAGES: usize>(blocks: [&[[$element; LANES]]; PAGES], lanes: &mut [[$compute; LANES]]) {
                let mut sums = [[$splat(-0.0); LANES / $width]; PAGES];
                for row in 0..blocks[0].len() {
                    for page in 0..PAGES {
                        let row = &blocks[page][row];
                        if PAGES > 1 {
                            stream::fetch(row, AHEAD_BYTES);
                        }
                        let vectors = row.as_chunks::<$width>().0;
                        for i in 0..LANES / $width {
                            let $from = &vectors[i];
                            sums[page][i] = $add(sums[page][i], $load);
                        }
                    }
                }
                for (lanes, sums) in lanes.iter_mut().zip(sums) {
                    for (lanes, sum) in lanes.as_chunks_mut::<$width>().0.iter_mut().zip(sums) {
                        // SAFETY: it writes the numbers of `lanes`, as many as the vector has, at any alignment.
                        unsafe { $store(lanes.as_mut_ptr(), sum) };
                    }
                }
            }
            )*
        };
    }

    // Each reads as many elements of `from` as the vector has, at any alignment.
    vectors! {
        f32_v4, "avx512f", 16: f32 => f32, _mm512_set1_ps, _mm512_add_ps, _mm512_mul_ps, _mm512_storeu_ps, |from| {
            // SAFETY: as stated above.
            unsafe { _mm512_loadu_ps(from.as_ptr()) }
        };
        f64_v4, "avx512f", 8: f64 => f64, _mm512_set1_pd, _mm512_add_pd, _mm512_mul_pd, _mm512_storeu_pd, |from| {
            // SAFETY: as stated above.
            unsafe { _mm512_loadu_pd(from.as_ptr()) }
        };
        f16_v4, "avx512f", 16: f16 => f32, _mm512_set1_ps, _mm512_add_ps, _mm512_mul_ps, _mm512_storeu_ps, |from| {
            // SAFETY: as stated above.
            _mm512_cvtph_ps(unsafe { _mm256_loadu_si256(from.as_ptr().cast()) })
        };
        bf16_v4, "avx512f", 16: bf16 => f32, _mm512_set1_ps, _mm512_add_ps, _mm512_mul_ps, _mm512_storeu_ps, |from| {
            // SAFETY: as stated above.
            let bits = _mm512_cvtepu16_epi32(unsafe { _mm256_loadu_si256(from.as_ptr().cast()) });
            _mm512_castsi512_ps(_mm512_slli_epi32::<16>(bits))
        };
        f32_v3, "avx2", 8: f32 => f32, _mm256_set1_ps, _mm256_add_ps, _mm256_mul_ps, _mm256_storeu_ps, |from| {
            // SAFETY: as stated above.
            unsafe { _mm256_loadu_ps(from.as_ptr()) }
        };
        f64_v3, "avx2", 4: f64 => f64, _mm256_set1_pd, _mm256_add_pd, _mm256_mul_pd, _mm256_storeu_pd, |from| {
            // SAFETY: as stated above.
            unsafe { _mm256_loadu_pd(from.as_ptr()) }
        };
        f16_v3, "avx2,f16c", 8: f16 => f32, _mm256_set1_ps, _mm256_add_ps, _mm256_mul_ps, _mm256_storeu_ps, |from| {
            // SAFETY: as stated above.
            _mm256_cvtph_ps(unsafe { _mm_loadu_si128(from.as_ptr().cast()) })
        };
        bf16_v3, "avx2", 8: bf16 => f32, _mm256_set1_ps, _mm256_add_ps, _mm256_mul_ps, _mm256_storeu_ps, |from| {
            // SAFETY: as stated above.
            let bits = _mm256_cvtepu16_epi32(unsafe { _mm_loadu_si128(from.as_ptr().cast()) });
            _mm256_castsi256_ps(_mm256_slli_epi32::<16>(bits))
        };
        f32_baseline, "sse2", 4: f32 => f32, _mm_set1_ps, _mm_add_ps, _mm_mul_ps, _mm_storeu_ps, |from| {
            // SAFETY: as stated above.
            unsafe { _mm_loadu_ps(from.as_ptr()) }
        };
        f64_baseline, "sse2", 2: f64 => f64, _mm_set1_pd, _mm_add_pd, _mm_mul_pd, _mm_storeu_pd, |from| {
            // SAFETY: as stated above.
            unsafe { _mm_loadu_pd(from.as_ptr()) }
        };
        bf16_baseline, "sse2", 4: bf16 => f32, _mm_set1_ps, _mm_add_ps, _mm_mul_ps, _mm_storeu_ps, |from| {
            // SAFETY: as stated above.
            let bits = unsafe { _mm_loadl_epi64(from.as_ptr().cast()) };
            _mm_castsi128_ps(_mm_unpacklo_epi16(_mm_setzero_si128(), bits))
        };
    }
}
