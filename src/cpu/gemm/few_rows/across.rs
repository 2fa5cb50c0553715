//! [`Across`]: sums of neighbouring columns in the lanes of vectors.

use pulp::{Simd, WithSimd};

use super::{Half, MOST_PAIR, Sum, pair_len, pairs};
use crate::cpu::lanes::Lanes;

/// Rows of the large factor that are read side by side, if they are contiguous: as many streams as the processor prefetches.
const ACROSS_DEPTH: usize = 8;
/// Columns of these rows that stay in the first-level cache for all rows. A multiple of every pair.
const ACROSS_COLUMNS: usize = 32 * MOST_PAIR;

/// `sums += few x large`, with the sums of neighbouring columns in the lanes of vectors.
///
/// `large` has contiguous rows; `wide: [rows, depth]`, and more behind.
pub(super) struct Across<'a, T>(pub(super) Sum<'a, T>);

impl<T: Half> WithSimd for Across<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Sum { few, large, wide, sums } = self.0;
        let (depth, columns) = large.dim();
        for (few, wide) in few.iter().zip(&mut *wide) {
            *wide = few.widen();
        }
        let whole = columns / pair_len::<S>() * pair_len::<S>();
        for begin in (0..depth).step_by(ACROSS_DEPTH) {
            let mut lines = [[].as_slice(); ACROSS_DEPTH];
            let lines = &mut lines[..ACROSS_DEPTH.min(depth - begin)];
            for (number, line) in lines.iter_mut().enumerate() {
                *line = large.row(begin + number).to_slice().expect("elements of a row lie side by side");
            }
            let block = BlockAcross { lines, wide: &wide[begin..], depth, columns };
            for column in (0..whole).step_by(ACROSS_COLUMNS) {
                block.rows(simd, [column, whole.min(column + ACROSS_COLUMNS)], sums);
            }
            block.rest(simd, whole, sums);
        }
    }
}

/// A block of the depth of [`Across`].
struct BlockAcross<'a, T> {
    /// The rows of the large factor.
    lines: &'a [&'a [T]],
    /// The few rows, from this block on, whose distance is `depth`.
    wide: &'a [f32],
    depth: usize,
    /// The distance of rows of the sums.
    columns: usize,
}

impl<T: Half> BlockAcross<'_, T> {
    /// Adds these columns, which are whole pairs, of all rows.
    #[inline(always)]
    fn rows<S: Simd>(&self, simd: S, columns: [usize; 2], sums: &mut [f32]) {
        let rows = sums.len() / self.columns;
        let mut row = 0;
        while row < rows {
            row += match rows - row {
                1 => self.line::<S, 1, 4>(simd, row, columns, sums),
                2 | 3 => self.line::<S, 2, 2>(simd, row, columns, sums),
                _ => self.line::<S, 4, 1>(simd, row, columns, sums),
            };
        }
    }

    /// Adds these columns of `R` rows, `P` pairs at a time. Returns `R`.
    #[inline(always)]
    fn line<S: Simd, const R: usize, const P: usize>(
        &self,
        simd: S,
        row: usize,
        [mut column, end]: [usize; 2],
        sums: &mut [f32],
    ) -> usize {
        let rows: [&[f32]; R] = std::array::from_fn(|number| &self.wide[(row + number) * self.depth..]);
        let sums = &mut sums[row * self.columns..];
        while column + P * pair_len::<S>() <= end {
            tile::<T, S, R, P>(simd, rows, self.lines, column, &mut sums[column..], self.columns);
            column += P * pair_len::<S>();
        }
        while column < end {
            tile::<T, S, R, 1>(simd, rows, self.lines, column, &mut sums[column..], self.columns);
            column += pair_len::<S>();
        }
        R
    }

    /// Adds the columns from number `column` on, fewer than a pair has, of all rows.
    #[inline(always)]
    fn rest<S: Simd>(&self, simd: S, column: usize, sums: &mut [f32]) {
        let count = self.columns - column;
        if count == 0 {
            return;
        }
        let mut filled = [[T::ZERO; MOST_PAIR]; ACROSS_DEPTH];
        for (filled, line) in filled.iter_mut().zip(self.lines) {
            filled[..count].copy_from_slice(&line[column..]);
        }
        let lines = filled.each_ref().map(|line| line.as_slice());
        let wide = self.wide.chunks(self.depth);
        for (sums, wide) in sums.chunks_exact_mut(self.columns).zip(wide) {
            let mut all = [0.0; MOST_PAIR];
            all[..count].copy_from_slice(&sums[column..]);
            tile::<T, S, 1, 1>(simd, [wide], &lines[..self.lines.len()], 0, &mut all, MOST_PAIR);
            sums[column..].copy_from_slice(&all[..count]);
        }
    }
}

/// Adds `R` rows and `P` pairs of columns: those of `lines` from number `column` on, and the first ones of `sums`, whose
/// rows are `stride` apart.
#[inline(always)]
fn tile<T: Half, S: Simd, const R: usize, const P: usize>(
    simd: S,
    rows: [&[f32]; R],
    lines: &[&[T]],
    column: usize,
    sums: &mut [f32],
    stride: usize,
) {
    let len = P * pair_len::<S>();
    // Loops, not closures: those are not always inlined, and then compiled without vectors.
    let mut totals = [[[f32::splat(simd, 0.0); 2]; P]; R];
    for (place, line) in lines.iter().enumerate() {
        let vectors = pairs::<T, S>(&line[column..][..len]);
        let mut factors = [f32::splat(simd, 0.0); R];
        for (factor, row) in factors.iter_mut().zip(rows) {
            *factor = f32::splat(simd, row[place]);
        }
        for pair in 0..P {
            let wide = T::widen_pair(simd, vectors[pair]);
            for (totals, &factor) in totals.iter_mut().zip(&factors) {
                for (total, wide) in totals[pair].iter_mut().zip(wide) {
                    *total = f32::multiply_add(simd, factor, wide, *total);
                }
            }
        }
    }
    for (row, totals) in totals.into_iter().enumerate() {
        let sums = S::as_mut_simd_f32s(&mut sums[row * stride..][..len]).0.as_chunks_mut::<2>().0;
        for (sums, totals) in sums.iter_mut().zip(totals) {
            for (sum, total) in sums.iter_mut().zip(T::in_order(simd, totals)) {
                *sum = f32::add_lanes(simd, *sum, total);
            }
        }
    }
}
