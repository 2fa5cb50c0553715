//! [`potrf`]: the Cholesky factorisation.

use std::fmt;

use dahl_core::Real;
use dahl_core::simd::{Vectorised, dispatch};
use ndarray::{ArrayViewMut2, Axis};

use super::{half, syrk, trsm};

/// Rows of a block that is factorised column by column.
const BLOCK: usize = 64;

/// A matrix has no Cholesky factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotPositiveDefinite {
    /// The row whose pivot is not positive.
    pub row: usize,
}

impl fmt::Display for NotPositiveDefinite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the matrix is not positive definite: the pivot of row {} is not above 0", self.row)
    }
}

impl std::error::Error for NotPositiveDefinite {}

/// Replaces `a` by the lower triangular `l` with `a = l x l^T`, with zeros above its diagonal. Reads only the lower
/// triangle of `a`.
///
/// # Shapes
/// `a: [rows, rows]`.
///
/// # Errors
/// If `a` is not positive definite; its elements are unspecified then.
///
/// # Panics
/// If `a` is not square.
pub fn potrf<T: Real>(a: ArrayViewMut2<'_, T>) -> Result<(), NotPositiveDefinite> {
    let rows = a.nrows();
    assert!(a.is_square(), "potrf: a must be square, not {rows} x {}", a.ncols());
    if rows <= BLOCK {
        return dispatch(Columns { a });
    }
    let middle = half(rows, BLOCK);
    let (top, bottom) = a.split_at(Axis(0), middle);
    let (mut top_left, mut top_right) = top.split_at(Axis(1), middle);
    let (mut bottom_left, mut bottom_right) = bottom.split_at(Axis(1), middle);
    potrf(top_left.view_mut())?;
    top_right.fill(T::ZERO);
    trsm(top_left.view(), bottom_left.view_mut());
    syrk(bottom_left.view(), bottom_right.view_mut());
    potrf(bottom_right).map_err(|error| NotPositiveDefinite { row: error.row + middle })
}

/// [`potrf`] of a block. It stores the factor transposed, so that the factor's columns are contiguous.
struct Columns<'a, T> {
    a: ArrayViewMut2<'a, T>,
}

impl<T: Real> Vectorised for Columns<'_, T> {
    type Output = Result<(), NotPositiveDefinite>;

    #[inline(always)]
    fn run(mut self) -> Self::Output {
        let rows = self.a.nrows();
        let mut columns = [[T::ZERO; BLOCK]; BLOCK];
        for (i, row) in self.a.rows().into_iter().enumerate() {
            row.iter().zip(&mut columns[..=i]).for_each(|(&value, column)| column[i] = value);
        }
        for pivot in 0..rows {
            let (before, rest) = columns.split_at_mut(pivot + 1);
            let column = &mut before[pivot];
            if !(column[pivot] > T::ZERO && column[pivot].is_finite()) {
                return Err(NotPositiveDefinite { row: pivot });
            }
            let root = column[pivot].sqrt();
            let scale = root.recip();
            column[pivot] = root;
            column[pivot + 1..].iter_mut().for_each(|value| *value *= scale);
            for (other, i) in rest.iter_mut().zip(pivot + 1..rows) {
                // Starts at a multiple of the vector length: the elements above the diagonal are not read.
                let (start, factor) = (i & !15, column[i]);
                other[start..]
                    .iter_mut()
                    .zip(&column[start..])
                    .for_each(|(other, &value)| *other -= factor * value);
            }
        }
        for (i, mut row) in self.a.rows_mut().into_iter().enumerate() {
            for (j, value) in row.iter_mut().enumerate() {
                *value = if j <= i { columns[j][i] } else { T::ZERO };
            }
        }
        Ok(())
    }
}
