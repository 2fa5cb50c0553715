//! [`trsm`]: solves systems of equations with a triangular matrix.

use dahl_core::Real;
use dahl_core::simd::{Vectorised, dispatch};
use ndarray::{ArrayView2, ArrayViewMut2, Axis};

use super::{gemm, half};

/// Columns that are solved by substitution.
const BLOCK: usize = 32;

/// Rows that are solved together, each in a lane of its own.
const LANES: usize = 64;

/// `b = b x l^-T` for a lower triangular `l`; elements above its diagonal are not read.
///
/// # Shapes
/// `l: [cols, cols]`, `b: [rows, cols]`.
///
/// # Panics
/// If the shapes do not agree.
pub fn trsm<T: Real>(l: ArrayView2<'_, T>, b: ArrayViewMut2<'_, T>) {
    let cols = b.ncols();
    assert_eq!(l.dim(), (cols, cols), "trsm: l must be square, with the columns of b");
    if cols <= BLOCK {
        return dispatch(Substitute { l, b });
    }
    let middle = half(cols, BLOCK);
    let (top, bottom) = l.split_at(Axis(0), middle);
    let (top_left, _) = top.split_at(Axis(1), middle);
    let (bottom_left, bottom_right) = bottom.split_at(Axis(1), middle);
    let (mut left, mut right) = b.split_at(Axis(1), middle);
    trsm(top_left, left.view_mut());
    gemm(-T::ONE, left.view(), bottom_left.reversed_axes(), T::ONE, right.view_mut());
    trsm(bottom_right, right);
}

/// [`trsm`] of a few columns. The rows are independent, so a few of them are solved at a time, one in each vector lane.
struct Substitute<'a, T> {
    l: ArrayView2<'a, T>,
    b: ArrayViewMut2<'a, T>,
}

impl<T: Real> Vectorised for Substitute<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        let cols = self.b.ncols();
        let mut l = [[T::ZERO; BLOCK]; BLOCK];
        for ((i, j), &value) in self.l.indexed_iter() {
            l[i][j] = if i == j { value.recip() } else { value };
        }
        let mut lanes = [[T::ZERO; LANES]; BLOCK];
        for mut rows in self.b.axis_chunks_iter_mut(Axis(0), LANES) {
            for (lane, row) in rows.rows().into_iter().enumerate() {
                row.iter().zip(&mut lanes).for_each(|(&value, lanes)| lanes[lane] = value);
            }
            for (col, l) in l.iter().enumerate().take(cols) {
                let (solved, rest) = lanes.split_at_mut(col);
                let unknown = &mut rest[0];
                for (solved, &factor) in solved.iter().zip(l) {
                    unknown.iter_mut().zip(solved).for_each(|(unknown, &value)| *unknown -= factor * value);
                }
                unknown.iter_mut().for_each(|unknown| *unknown *= l[col]);
            }
            for (lane, mut row) in rows.rows_mut().into_iter().enumerate() {
                row.iter_mut().zip(&lanes).for_each(|(value, lanes)| *value = lanes[lane]);
            }
        }
    }
}
