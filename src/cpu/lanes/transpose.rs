//! Transposes square blocks, of as many vectors as a vector has elements: [`Lanes::transpose`].

#![allow(unsafe_code, reason = "calls instructions that the type of the vectors proves")]

use pulp::Simd;
#[cfg(target_arch = "x86_64")]
use pulp::x86::V3;

use super::Lanes;
#[cfg(target_arch = "x86_64")]
use super::is;

/// [`Lanes::transpose`] of `f32`.
#[inline(always)]
pub(super) fn transpose_f32<S: Simd, const N: usize>(simd: S, square: [S::f32s; N]) -> [S::f32s; N] {
    #[cfg(target_arch = "x86_64")]
    if is::<S, V3>() {
        // SAFETY: `S` is `V3`, and its value proves AVX2.
        return bytemuck::cast(unsafe { x86_64::transpose_8(bytemuck::cast(square)) });
    }
    by_zips::<f32, S, N>(simd, square)
}

/// [`Lanes::transpose`] of `f64`.
#[inline(always)]
pub(super) fn transpose_f64<S: Simd, const N: usize>(simd: S, square: [S::f64s; N]) -> [S::f64s; N] {
    #[cfg(target_arch = "x86_64")]
    if is::<S, V3>() {
        // SAFETY: as in `transpose_f32`.
        return bytemuck::cast(unsafe { x86_64::transpose_wide_4(bytemuck::cast(square)) });
    }
    by_zips::<f64, S, N>(simd, square)
}

/// By rounds of [`Lanes::zip`], if its lanes are in the order of the elements.
#[inline(always)]
fn by_zips<C: Lanes, S: Simd, const N: usize>(simd: S, mut square: [C::Vector<S>; N]) -> [C::Vector<S>; N] {
    // Element `c` of row `r` has the number `r * N + c`. Each round rotates the bits of all numbers by one.
    let mut round = 1;
    while round < N {
        let before = square;
        for row in 0..N / 2 {
            [square[2 * row], square[2 * row + 1]] = C::zip(simd, [before[row], before[row + N / 2]]);
        }
        round *= 2;
    }
    square
}

/// Instructions of AVX2 work within halves: first the squares of half the side are transposed, and then two of them are
/// exchanged.
#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use std::arch::x86_64::{
        __m256, __m256d, _mm256_castpd_ps, _mm256_castps_pd, _mm256_permute2f128_pd, _mm256_permute2f128_ps,
        _mm256_unpackhi_pd, _mm256_unpackhi_ps, _mm256_unpacklo_pd, _mm256_unpacklo_ps,
    };

    /// The lower halves of two vectors.
    const LOWER: i32 = 0b0010_0000;
    /// The upper halves.
    const UPPER: i32 = 0b0011_0001;

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn transpose_8(rows: [__m256; 8]) -> [__m256; 8] {
        let mut twos = rows;
        for i in (0..8).step_by(2) {
            twos[i] = _mm256_unpacklo_ps(rows[i], rows[i + 1]);
            twos[i + 1] = _mm256_unpackhi_ps(rows[i], rows[i + 1]);
        }
        let mut fours = rows;
        for i in [0, 4] {
            for j in 0..2 {
                let [first, second] = [twos[i + j], twos[i + 2 + j]].map(|twos| _mm256_castps_pd(twos));
                fours[i + 2 * j] = _mm256_castpd_ps(_mm256_unpacklo_pd(first, second));
                fours[i + 2 * j + 1] = _mm256_castpd_ps(_mm256_unpackhi_pd(first, second));
            }
        }
        let mut columns = rows;
        for i in 0..4 {
            columns[i] = _mm256_permute2f128_ps::<LOWER>(fours[i], fours[i + 4]);
            columns[i + 4] = _mm256_permute2f128_ps::<UPPER>(fours[i], fours[i + 4]);
        }
        columns
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn transpose_wide_4(rows: [__m256d; 4]) -> [__m256d; 4] {
        let low = [_mm256_unpacklo_pd(rows[0], rows[1]), _mm256_unpacklo_pd(rows[2], rows[3])];
        let high = [_mm256_unpackhi_pd(rows[0], rows[1]), _mm256_unpackhi_pd(rows[2], rows[3])];
        [
            _mm256_permute2f128_pd::<LOWER>(low[0], low[1]),
            _mm256_permute2f128_pd::<LOWER>(high[0], high[1]),
            _mm256_permute2f128_pd::<UPPER>(low[0], low[1]),
            _mm256_permute2f128_pd::<UPPER>(high[0], high[1]),
        ]
    }
}

#[cfg(test)]
mod tests {
    use std::marker::PhantomData;

    use pulp::{Scalar, WithSimd};

    use super::*;
    use crate::cpu::lanes::with_lanes;

    struct Transpose<C>(PhantomData<C>);

    impl<C: Lanes> WithSimd for Transpose<C> {
        type Output = ();

        fn with_simd<S: Simd>(self, simd: S) {
            with_lanes!(C, S, N => rows_become_columns_of::<C, S, N>(simd));
        }
    }

    fn rows_become_columns_of<C: Lanes, S: Simd, const N: usize>(simd: S) {
        let elements: Vec<C> = (0..N * N).map(|place| C::from_f64(place as f64)).collect();
        let square = C::vectors::<S>(&elements).0.as_chunks::<N>().0[0];
        let mut transposed = elements.clone();
        C::vectors_mut::<S>(&mut transposed).0.copy_from_slice(&C::transpose(simd, square));
        for row in 0..N {
            for column in 0..N {
                assert_eq!(transposed[column * N + row], elements[row * N + column], "{N} lanes");
            }
        }
    }

    fn check<S: Simd>(simd: Option<S>) {
        if let Some(simd) = simd {
            Simd::vectorize(simd, Transpose::<f32>(PhantomData));
            Simd::vectorize(simd, Transpose::<f64>(PhantomData));
        }
    }

    #[test]
    fn rows_become_columns() {
        check(Some(Scalar));
        #[cfg(target_arch = "x86_64")]
        {
            check(pulp::x86::V2::try_new());
            check(V3::try_new());
            check(pulp::x86::V4::try_new());
        }
        #[cfg(target_arch = "aarch64")]
        check(pulp::aarch64::Neon::try_new());
    }
}
