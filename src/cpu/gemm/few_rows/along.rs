//! [`Along`]: sums in the lanes of vectors along the depth.

use ndarray::ArrayView2;
use pulp::{Simd, WithSimd};

use super::{Half, MOST_PAIR, Sum, first_pair, padded, pair_len, pairs};
use crate::cpu::lanes::Lanes;

/// Elements along the depth that are summed before the next columns, if there are several rows: those of a few columns stay
/// in the first-level cache. A multiple of every pair.
const ALONG_DEPTH: usize = 64 * MOST_PAIR;
/// Columns that are read side by side, if they are contiguous: far apart, as in [`dot`](crate::cpu::gemm::dot).
const STREAMS: usize = 4;

/// `sums += few x large`, with sums in the lanes of vectors along the depth.
///
/// `large` has contiguous columns; `wide: [rows, padded(depth)]`.
pub(super) struct Along<'a, T>(pub(super) Sum<'a, T>);

impl<T: Half> WithSimd for Along<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Sum { few, large, wide, sums } = self.0;
        let (depth, columns) = large.dim();
        for (few, wide) in few.chunks_exact(depth).zip(wide.chunks_exact_mut(padded(depth))) {
            let wide = S::as_mut_simd_f32s(wide).0.as_chunks_mut::<2>().0;
            for (few, wide) in few.chunks(pair_len::<S>()).zip(wide) {
                *wide = T::widen_pair(simd, first_pair::<T, S>(few));
            }
        }
        let rows = sums.len() / columns;
        let step = if rows == 1 { depth } else { ALONG_DEPTH };
        let apart = columns / STREAMS;
        for begin in (0..depth).step_by(step) {
            let block = BlockAlong { large, wide, depths: [begin, depth.min(begin + step)] };
            for column in 0..apart {
                block.columns::<S, STREAMS>(simd, [column, apart], sums);
            }
            for column in STREAMS * apart..columns {
                block.columns::<S, 1>(simd, [column, 1], sums);
            }
        }
    }
}

/// A block of the depth of [`Along`].
struct BlockAlong<'a, T> {
    large: ArrayView2<'a, T>,
    wide: &'a [f32],
    depths: [usize; 2],
}

impl<T: Half> BlockAlong<'_, T> {
    /// Adds `N` columns: number `column`, and every one that is `apart` from the one before.
    #[inline(always)]
    fn columns<S: Simd, const N: usize>(&self, simd: S, columns: [usize; 2], sums: &mut [f32]) {
        let rows = sums.len() / self.large.ncols();
        if rows == 1 {
            return self.tile::<S, 1, N, 2>(simd, 0, columns, sums);
        }
        for row in (0..rows / 2 * 2).step_by(2) {
            self.tile::<S, 2, N, 1>(simd, row, columns, sums);
        }
        if rows % 2 == 1 {
            self.tile::<S, 1, N, 1>(simd, rows - 1, columns, sums);
        }
    }

    /// Adds `R` rows and `N` columns, which are as in [`columns`](Self::columns). The vectors of a pair are added to `V`
    /// vectors of sums: as many as there are registers for.
    #[inline(always)]
    fn tile<S: Simd, const R: usize, const N: usize, const V: usize>(
        &self,
        simd: S,
        row: usize,
        [column, apart]: [usize; 2],
        sums: &mut [f32],
    ) {
        let Self { large, wide, depths: [begin, end] } = self;
        let (depth, columns) = large.dim();
        let whole = (end - begin) / pair_len::<S>();
        let rows: [&[[S::f32s; 2]]; R] = std::array::from_fn(|number| {
            let row = &wide[(row + number) * padded(depth) + begin..][..padded(end - begin)];
            S::as_simd_f32s(row).0.as_chunks::<2>().0
        });
        let lines: [&[T]; N] = std::array::from_fn(|number| {
            let line = large.column(column + number * apart).to_slice().expect("elements lie side by side");
            &line[*begin..*end]
        });
        let (whole_rows, vectors) =
            (rows.map(|row| &row[..whole]), lines.map(|line| &pairs::<T, S>(line)[..whole]));
        let mut totals = [[[f32::splat(simd, 0.0); V]; N]; R];
        for place in 0..whole {
            for (number, vectors) in vectors.iter().enumerate() {
                let wide = T::widen_pair(simd, vectors[place]);
                for (totals, row) in totals.iter_mut().zip(whole_rows) {
                    add_pair(simd, row[place], wide, &mut totals[number]);
                }
            }
        }
        if whole * pair_len::<S>() < end - begin {
            for (number, line) in lines.iter().enumerate() {
                let wide = T::widen_pair(simd, first_pair::<T, S>(&line[whole * pair_len::<S>()..]));
                for (totals, row) in totals.iter_mut().zip(rows) {
                    add_pair(simd, row[whole], wide, &mut totals[number]);
                }
            }
        }
        for (number, totals) in totals.into_iter().enumerate() {
            for (place, vectors) in totals.into_iter().enumerate() {
                let mut total = vectors[0];
                for &vector in &vectors[1..] {
                    total = f32::add_lanes(simd, total, vector);
                }
                sums[(row + number) * columns + column + place * apart] += <f32 as Lanes>::sum(simd, total);
            }
        }
    }
}

/// `totals += a * b`.
#[inline(always)]
fn add_pair<S: Simd, const V: usize>(simd: S, a: [S::f32s; 2], b: [S::f32s; 2], totals: &mut [S::f32s; V]) {
    for place in 0..2 {
        totals[place % V] = f32::multiply_add(simd, a[place], b[place], totals[place % V]);
    }
}
