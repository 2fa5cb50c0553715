//! The loops around the instruction `vdpbf16ps`, and the code that arranges elements in pairs.

use std::arch::x86_64::{
    __m512, __m512bh, _mm512_dpbf16_ps, _mm512_loadu_ps, _mm512_loadu_si512, _mm512_set1_epi32,
    _mm512_set1_ps, _mm512_storeu_ps,
};

use half::bf16;

use super::POSITIONS;
use crate::cpu::bf16_dot::{Pair, in_pairs, interleave, is_supported};
use crate::cpu::direct::convolve::Sums;
use crate::cpu::direct::plane::Plane;
use crate::cpu::lanes::MOST_LANES;

/// Sums of a vector, and pairs of one.
const LANES: usize = MOST_LANES;

/// Copies an image into planes of pairs of channels. Their borders are zero from the beginning.
#[allow(unsafe_code, reason = "target features")]
pub(super) fn border(plane: &Plane, image: &[bf16], planes: &mut [Pair]) {
    assert!(is_supported());
    // SAFETY: a machine with the instruction has these features.
    unsafe { border_in_vectors(plane, image, planes) };
}

/// [`border`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn border_in_vectors(plane: &Plane, image: &[bf16], planes: &mut [Pair]) {
    let [rows, columns] = plane.image;
    let first = plane.padding[0] * plane.width() + plane.padding[1];
    let channels = image.chunks(2 * rows * columns);
    for (channels, to) in channels.zip(planes.chunks_exact_mut(plane.len())) {
        let (even, odd) = channels.split_at(rows * columns);
        let lines = to[first..].chunks_mut(plane.width()).zip(even.chunks_exact(columns));
        if odd.is_empty() {
            for (to, even) in lines {
                to.iter_mut().zip(even).for_each(|(to, &even)| *to = [even, bf16::ZERO]);
            }
        } else {
            for ((to, even), odd) in lines.zip(odd.chunks_exact(columns)) {
                interleave(even, odd, to);
            }
        }
    }
}

/// The sums of `F` filters at all positions.
#[allow(unsafe_code, reason = "a target feature")]
pub(super) fn add_up<const F: usize>(filters: &[[Pair; F]], initial: [f32; F], sums: Sums<'_, Pair, f32>) {
    assert!(is_supported());
    if const { F <= 2 } {
        // SAFETY: the instruction is there, as asserted.
        unsafe { in_vectors::<F, 8>(filters, initial, sums) };
    } else {
        // SAFETY: as above.
        unsafe { in_vectors::<F, 4>(filters, initial, sums) };
    }
}

/// [`add_up`], `V` vectors of positions at a time.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512bf16")]
fn in_vectors<const F: usize, const V: usize>(
    filters: &[[Pair; F]],
    initial: [f32; F],
    Sums { plane, planes, sums, sums_len }: Sums<'_, Pair, f32>,
) {
    for begin in (0..plane.positions()).step_by(V * LANES) {
        let tile = tile::<F, V>(plane, filters, initial, &planes[begin..]);
        for (filter, tile) in tile.iter().enumerate() {
            let (to, _) = sums[filter * sums_len + begin..][..V * LANES].as_chunks_mut::<LANES>();
            for (to, &sum) in to.iter_mut().zip(tile) {
                store(to, sum);
            }
        }
    }
}

/// The sums of `F` filters at the first `V` vectors of positions.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512bf16")]
#[inline]
fn tile<const F: usize, const V: usize>(
    plane: &Plane,
    filters: &[[Pair; F]],
    initial: [f32; F],
    planes: &[Pair],
) -> [[__m512; V]; F] {
    let mut sums = [[_mm512_set1_ps(0.0); V]; F];
    for (sums, &initial) in sums.iter_mut().zip(&initial) {
        *sums = [_mm512_set1_ps(initial); V];
    }
    let [kernel_rows, kernel_columns] = plane.kernel;
    for (channels, taps) in filters.chunks_exact(plane.taps()).enumerate() {
        for row in 0..kernel_rows {
            let line = &planes[channels * plane.len() + row * plane.row_step()..];
            for (column, filters) in taps[row * kernel_columns..][..kernel_columns].iter().enumerate() {
                let (pairs, _) = line[column * plane.dilation[1]..][..V * LANES].as_chunks::<LANES>();
                let mut vectors = [in_pairs(_mm512_set1_epi32(0)); V];
                for (vector, pairs) in vectors.iter_mut().zip(pairs) {
                    *vector = load(pairs);
                }
                for (sums, &filter) in sums.iter_mut().zip(filters) {
                    let filter = in_pairs(_mm512_set1_epi32(bytemuck::cast(filter)));
                    for (sum, &vector) in sums.iter_mut().zip(&vectors) {
                        *sum = _mm512_dpbf16_ps(*sum, filter, vector);
                    }
                }
            }
        }
    }
    sums
}

/// Adds the products of each part with each window, `vectors` of pairs each, to vectors of sums, `[K, F, lanes]`.
#[allow(unsafe_code, reason = "a target feature")]
pub(super) fn add_products<const F: usize, const K: usize>(
    vectors: usize,
    parts: [&[bf16]; F],
    windows: [&[bf16]; K],
    sums: &mut [f32],
) {
    assert!(is_supported());
    // SAFETY: the instruction is there, as asserted.
    unsafe { add_pairs(vectors, parts, windows, sums) };
}

/// [`add_products`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512bf16")]
fn add_pairs<const F: usize, const K: usize>(
    vectors: usize,
    parts: [&[bf16]; F],
    windows: [&[bf16]; K],
    sums: &mut [f32],
) {
    let (totals, _) = sums.as_chunks_mut::<LANES>();
    let totals = &mut totals[..K * F];
    let mut sums = [[_mm512_set1_ps(0.0); F]; K];
    for tap in 0..K {
        for filter in 0..F {
            sums[tap][filter] = load_sums(&totals[tap * F + filter]);
        }
    }
    let mut of_parts = [[].as_slice(); F];
    for filter in 0..F {
        of_parts[filter] = &parts[filter].as_chunks::<POSITIONS>().0[..vectors];
    }
    let mut of_windows = [[].as_slice(); K];
    for tap in 0..K {
        of_windows[tap] = &windows[tap].as_chunks::<POSITIONS>().0[..vectors];
    }
    for position in 0..vectors {
        let mut gradient = [in_pairs(_mm512_set1_epi32(0)); F];
        for filter in 0..F {
            gradient[filter] = load_positions(&of_parts[filter][position]);
        }
        for tap in 0..K {
            let window = load_positions(&of_windows[tap][position]);
            for filter in 0..F {
                sums[tap][filter] = _mm512_dpbf16_ps(sums[tap][filter], gradient[filter], window);
            }
        }
    }
    for tap in 0..K {
        for filter in 0..F {
            store(&mut totals[tap * F + filter], sums[tap][filter]);
        }
    }
}

#[allow(unsafe_code, reason = "a load takes a pointer")]
#[target_feature(enable = "avx512f,avx512bf16")]
#[inline]
fn load(pairs: &[Pair; LANES]) -> __m512bh {
    // SAFETY: they are 64 bytes.
    in_pairs(unsafe { _mm512_loadu_si512(pairs.as_ptr().cast()) })
}

#[allow(unsafe_code, reason = "a load takes a pointer")]
#[target_feature(enable = "avx512f,avx512bf16")]
#[inline]
fn load_positions(elements: &[bf16; POSITIONS]) -> __m512bh {
    // SAFETY: they are 64 bytes.
    in_pairs(unsafe { _mm512_loadu_si512(elements.as_ptr().cast()) })
}

#[allow(unsafe_code, reason = "a load takes a pointer")]
#[target_feature(enable = "avx512f")]
#[inline]
fn load_sums(sums: &[f32; LANES]) -> __m512 {
    // SAFETY: they are 64 bytes.
    unsafe { _mm512_loadu_ps(sums.as_ptr()) }
}

#[allow(unsafe_code, reason = "a store takes a pointer")]
#[target_feature(enable = "avx512f")]
#[inline]
fn store(to: &mut [f32; LANES], sums: __m512) {
    // SAFETY: they are 64 bytes.
    unsafe { _mm512_storeu_ps(to.as_mut_ptr(), sums) };
}
