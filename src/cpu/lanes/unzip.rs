//! Separates pairs of elements, and forms them: [`Lanes::unzip`](super::Lanes::unzip),
//! [`Lanes::in_order`](super::Lanes::in_order) and [`Lanes::zip`](super::Lanes::zip).

#![allow(unsafe_code, reason = "calls instructions that the type of the vectors proves")]

use bytemuck::{Pod, cast_slice, cast_slice_mut};
use pulp::Simd;
#[cfg(target_arch = "x86_64")]
use pulp::x86::{V3, V4};

#[cfg(target_arch = "x86_64")]
use super::is;

/// [`Lanes::unzip`](super::Lanes::unzip) of `f32`.
#[inline(always)]
pub(super) fn unzip_f32<S: Simd>(_: S, vectors: [S::f32s; 2]) -> [S::f32s; 2] {
    #[cfg(target_arch = "x86_64")]
    if is::<S, V4>() {
        // SAFETY: `S` is `V4`, and its value proves AVX-512.
        return as_vectors(unsafe { x86_64::unzip_16(as_vectors(vectors)) });
    } else if is::<S, V3>() {
        // SAFETY: as above, with AVX2.
        return as_vectors(unsafe { x86_64::unzip_8(as_vectors(vectors)) });
    }
    one_by_one::<S::f32s, f32>(vectors)
}

/// [`Lanes::in_order`](super::Lanes::in_order). Instructions of AVX2 work within halves, so the middle two quarters are
/// exchanged.
#[inline(always)]
pub(super) fn in_order<S: Simd, V: Pod>(_: S, vector: V) -> V {
    #[cfg(target_arch = "x86_64")]
    if is::<S, V3>() {
        // SAFETY: `S` is `V3`, and its value proves AVX2.
        return bytemuck::cast(unsafe { x86_64::swap_middle_quarters(bytemuck::cast(vector)) });
    }
    vector
}

/// [`Lanes::zip`](super::Lanes::zip) of `f32`.
#[inline(always)]
pub(super) fn zip_f32<S: Simd>(_: S, vectors: [S::f32s; 2]) -> [S::f32s; 2] {
    #[cfg(target_arch = "x86_64")]
    if is::<S, V4>() {
        // SAFETY: as in `unzip_f32`.
        return as_vectors(unsafe { x86_64::zip_16(as_vectors(vectors)) });
    } else if is::<S, V3>() {
        // SAFETY: as in `unzip_f32`.
        return as_vectors(unsafe { x86_64::zip_8(as_vectors(vectors)) });
    }
    zip_one_by_one::<S::f32s, f32>(vectors)
}

/// [`Lanes::unzip`](super::Lanes::unzip) of `f64`.
#[inline(always)]
pub(super) fn unzip_f64<S: Simd>(_: S, vectors: [S::f64s; 2]) -> [S::f64s; 2] {
    #[cfg(target_arch = "x86_64")]
    if is::<S, V4>() {
        // SAFETY: as in `unzip_f32`.
        return as_vectors(unsafe { x86_64::unzip_wide_8(as_vectors(vectors)) });
    } else if is::<S, V3>() {
        // SAFETY: as in `unzip_f32`.
        return as_vectors(unsafe { x86_64::unzip_wide_4(as_vectors(vectors)) });
    }
    one_by_one::<S::f64s, f64>(vectors)
}

/// [`Lanes::zip`](super::Lanes::zip) of `f64`.
#[inline(always)]
pub(super) fn zip_f64<S: Simd>(_: S, vectors: [S::f64s; 2]) -> [S::f64s; 2] {
    #[cfg(target_arch = "x86_64")]
    if is::<S, V4>() {
        // SAFETY: as in `unzip_f32`.
        return as_vectors(unsafe { x86_64::zip_wide_8(as_vectors(vectors)) });
    } else if is::<S, V3>() {
        // SAFETY: as in `unzip_f32`.
        return as_vectors(unsafe { x86_64::zip_wide_4(as_vectors(vectors)) });
    }
    zip_one_by_one::<S::f64s, f64>(vectors)
}

/// Without a vector instruction.
#[inline(always)]
fn one_by_one<V: Pod, C: Pod>(vectors: [V; 2]) -> [V; 2] {
    let mut unzipped = [V::zeroed(); 2];
    let (elements, lanes) = (cast_slice::<V, C>(&vectors), size_of::<V>() / size_of::<C>());
    let (even, odd) = cast_slice_mut::<V, C>(&mut unzipped).split_at_mut(lanes);
    for lane in 0..lanes {
        even[lane] = elements[2 * lane];
        odd[lane] = elements[2 * lane + 1];
    }
    unzipped
}

/// As [`one_by_one`].
#[inline(always)]
fn zip_one_by_one<V: Pod, C: Pod>([first, second]: [V; 2]) -> [V; 2] {
    let mut zipped = [V::zeroed(); 2];
    let (pairs, _) = cast_slice_mut::<V, C>(&mut zipped).as_chunks_mut::<2>();
    let (first, second) = ([first], [second]);
    let elements = cast_slice::<V, C>(&first).iter().zip(cast_slice::<V, C>(&second));
    for (pair, (&first, &second)) in pairs.iter_mut().zip(elements) {
        *pair = [first, second];
    }
    zipped
}

/// The same bytes as other vectors of the same size.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn as_vectors<From: Pod, To: Pod>([first, second]: [From; 2]) -> [To; 2] {
    [bytemuck::cast(first), bytemuck::cast(second)]
}

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use std::arch::x86_64::{
        __m256, __m256d, __m512, __m512d, _mm256_permute4x64_pd, _mm256_shuffle_ps, _mm256_unpackhi_pd,
        _mm256_unpackhi_ps, _mm256_unpacklo_pd, _mm256_unpacklo_ps, _mm512_permutex2var_pd,
        _mm512_permutex2var_ps, _mm512_setr_epi32, _mm512_setr_epi64,
    };

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn unzip_16([first, second]: [__m512; 2]) -> [__m512; 2] {
        let even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
        let odd = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
        [_mm512_permutex2var_ps(first, even, second), _mm512_permutex2var_ps(first, odd, second)]
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn unzip_wide_8([first, second]: [__m512d; 2]) -> [__m512d; 2] {
        let even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
        let odd = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
        [_mm512_permutex2var_pd(first, even, second), _mm512_permutex2var_pd(first, odd, second)]
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn zip_16([first, second]: [__m512; 2]) -> [__m512; 2] {
        let lower = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
        let upper = _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
        [_mm512_permutex2var_ps(first, lower, second), _mm512_permutex2var_ps(first, upper, second)]
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn zip_wide_8([first, second]: [__m512d; 2]) -> [__m512d; 2] {
        let lower = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
        let upper = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
        [_mm512_permutex2var_pd(first, lower, second), _mm512_permutex2var_pd(first, upper, second)]
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn zip_8([first, second]: [__m256; 2]) -> [__m256; 2] {
        [_mm256_unpacklo_ps(first, second), _mm256_unpackhi_ps(first, second)]
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn zip_wide_4([first, second]: [__m256d; 2]) -> [__m256d; 2] {
        [_mm256_unpacklo_pd(first, second), _mm256_unpackhi_pd(first, second)]
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn unzip_8([first, second]: [__m256; 2]) -> [__m256; 2] {
        [_mm256_shuffle_ps::<0b10_00_10_00>(first, second), _mm256_shuffle_ps::<0b11_01_11_01>(first, second)]
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn unzip_wide_4([first, second]: [__m256d; 2]) -> [__m256d; 2] {
        [_mm256_unpacklo_pd(first, second), _mm256_unpackhi_pd(first, second)]
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn swap_middle_quarters(vector: __m256d) -> __m256d {
        _mm256_permute4x64_pd::<0b11_01_10_00>(vector)
    }
}

#[cfg(test)]
mod tests {
    use pulp::{Scalar, WithSimd};

    use super::*;
    use crate::cpu::lanes::Lanes;

    struct Unzip<C>(std::marker::PhantomData<C>);

    impl<C: Lanes> WithSimd for Unzip<C> {
        type Output = ();

        fn with_simd<S: Simd>(self, simd: S) {
            let lanes = C::lanes::<S>();
            let elements: Vec<C> = (0..2 * lanes).map(|place| C::from_f64(place as f64)).collect();
            let (vectors, _) = C::vectors::<S>(&elements);
            let unzipped = C::unzip(simd, [vectors[0], vectors[1]]);
            let mut parts = vec![C::ZERO; 2 * lanes];
            let in_order = unzipped.map(|part| C::in_order(simd, part));
            C::vectors_mut::<S>(&mut parts).0.copy_from_slice(&in_order);
            let expected = (0..2 * lanes).map(|to| C::from_f64((to % lanes * 2 + to / lanes) as f64));
            assert!(parts.iter().copied().eq(expected), "{lanes} lanes: {parts:?}");
            let out_of_order = in_order.map(|part| C::in_order(simd, part));
            for unzipped in [unzipped, out_of_order] {
                C::vectors_mut::<S>(&mut parts).0.copy_from_slice(&C::zip(simd, unzipped));
                assert_eq!(parts, elements, "{lanes} lanes");
            }
        }
    }

    fn check<S: Simd>(simd: Option<S>) {
        if let Some(simd) = simd {
            Simd::vectorize(simd, Unzip::<f32>(std::marker::PhantomData));
            Simd::vectorize(simd, Unzip::<f64>(std::marker::PhantomData));
        }
    }

    #[test]
    fn even_places_come_first_and_keep_their_order_and_go_back() {
        check(Some(Scalar));
        #[cfg(target_arch = "x86_64")]
        {
            check(pulp::x86::V2::try_new());
            check(V3::try_new());
            check(V4::try_new());
        }
        #[cfg(target_arch = "aarch64")]
        check(pulp::aarch64::Neon::try_new());
    }
}
