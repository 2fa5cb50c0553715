//! [`Dot`]: products whose sums are in the lanes of vectors along the depth, for factors that are both contiguous along
//! the depth. Nothing is packed, and few elements of the output suffice to fill the vectors.

use ndarray::{ArrayView2, ArrayViewMut2};
use pulp::{Simd, WithSimd};

use super::tile::Scale;
use crate::cpu::lanes::{Lanes, has_few_registers};

/// Bytes of a row that are summed before the next row: those of a few rows stay in the first-level cache.
const LINE_BYTES: usize = 8 * 1024;
/// Columns that are read side by side. They are far apart: each column and the next ones are a long stream of addresses, which
/// the processor prefetches, where the ends of neighbouring columns would stop it.
const STREAMS: usize = 4;
/// Those of one row.
const ROW_STREAMS: usize = 8;

/// Computes `out = alpha * a x b + beta * out`, where the rows of `a` and the columns of `b` are contiguous.
pub(super) struct Dot<'a, C> {
    pub(super) a: ArrayView2<'a, C>,
    pub(super) b: ArrayView2<'a, C>,
    pub(super) out: ArrayViewMut2<'a, C>,
    pub(super) scale: Scale<C>,
}

impl<C: Lanes> WithSimd for Dot<'_, C> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let depth = self.a.ncols();
        let step = LINE_BYTES / size_of::<C>();
        let scale = self.scale;
        for begin in (0..depth.max(1)).step_by(step) {
            let depths = [begin, depth.min(begin + step)];
            self.scale = if begin == 0 { scale } else { Scale { beta: C::ONE, ..scale } };
            let (rows, columns) = self.out.dim();
            let streams = if rows == 1 { ROW_STREAMS } else { STREAMS };
            let apart = columns / streams;
            for column in 0..apart {
                if rows == 1 {
                    self.columns::<S, ROW_STREAMS>(simd, [column, apart], depths);
                } else {
                    self.columns::<S, STREAMS>(simd, [column, apart], depths);
                }
            }
            let mut column = streams * apart;
            while column < columns {
                column += match columns - column {
                    1 => self.columns::<S, 1>(simd, [column, 1], depths),
                    2 | 3 => self.columns::<S, 2>(simd, [column, 1], depths),
                    _ => self.columns::<S, STREAMS>(simd, [column, 1], depths),
                };
            }
        }
    }
}

impl<C: Lanes> Dot<'_, C> {
    /// Computes `N` columns of the output: number `column`, and every one that is `apart` from the one before. Returns `N`.
    #[inline(always)]
    fn columns<S: Simd, const N: usize>(
        &mut self,
        simd: S,
        [column, apart]: [usize; 2],
        depths: [usize; 2],
    ) -> usize {
        let rows = self.out.nrows();
        let mut row = 0;
        while row < rows {
            // `const`, so that code for other numbers of columns or registers is not compiled.
            row += if const { N == ROW_STREAMS } {
                self.tile::<S, 1, N>(simd, row, [column, apart], depths)
            } else {
                match rows - row {
                    1 => self.tile::<S, 1, N>(simd, row, [column, apart], depths),
                    4.. if const { !has_few_registers::<S>() } => {
                        self.tile::<S, 4, N>(simd, row, [column, apart], depths)
                    }
                    _ => self.tile::<S, 2, N>(simd, row, [column, apart], depths),
                }
            };
        }
        N
    }

    /// Computes `R` rows and `N` columns of the output, which are as in [`columns`](Self::columns). Returns `R`.
    #[inline(always)]
    fn tile<S: Simd, const R: usize, const N: usize>(
        &mut self,
        simd: S,
        row: usize,
        [column, apart]: [usize; 2],
        [begin, end]: [usize; 2],
    ) -> usize {
        let a: [&[C]; R] = std::array::from_fn(|number| {
            let line = self.a.row(row + number).to_slice().expect("elements of a row lie side by side");
            &line[begin..end]
        });
        let b: [&[C]; N] = std::array::from_fn(|number| {
            let line = self.b.column(column + number * apart).to_slice().expect("elements lie side by side");
            &line[begin..end]
        });
        let sums = S::vectorize(simd, Sums { a, b });
        let Scale { alpha, beta } = self.scale;
        for (number, sums) in sums.iter().enumerate() {
            for (place, &sum) in sums.iter().enumerate() {
                let out = &mut self.out[[row + number, column + place * apart]];
                *out = if beta == C::ZERO { alpha * sum } else { alpha * sum + beta * *out };
            }
        }
        R
    }
}

/// The products of `R` rows with `N` columns.
struct Sums<'a, C, const R: usize, const N: usize> {
    a: [&'a [C]; R],
    b: [&'a [C]; N],
}

impl<C: Lanes, const R: usize, const N: usize> WithSimd for Sums<'_, C, R, N> {
    type Output = [[C; N]; R];

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> [[C; N]; R] {
        let depth = self.a[0].len();
        let (a, b) = (self.a.map(|line| &line[..depth]), self.b.map(|line| &line[..depth]));
        let vectors = depth / C::lanes::<S>();
        let wide_a = a.map(|line| &C::vectors::<S>(line).0[..vectors]);
        let wide_b = b.map(|line| &C::vectors::<S>(line).0[..vectors]);
        let mut sums = [[C::splat(simd, C::ZERO); N]; R];
        for place in 0..vectors {
            for (sums, a) in sums.iter_mut().zip(wide_a) {
                for (sum, b) in sums.iter_mut().zip(wide_b) {
                    *sum = C::multiply_add(simd, a[place], b[place], *sum);
                }
            }
        }
        let mut totals = [[C::ZERO; N]; R];
        for ((totals, sums), a) in totals.iter_mut().zip(sums).zip(a) {
            for ((total, sum), b) in totals.iter_mut().zip(sums).zip(b) {
                *total = <C as Lanes>::sum(simd, sum);
                for place in vectors * C::lanes::<S>()..depth {
                    *total += a[place] * b[place];
                }
            }
        }
        totals
    }
}
