//! [`transpose`]: turns rows into columns.

use dahl::ndarray::{ArrayView2, ArrayViewMut2};
use dahl::prelude::*;

/// Rows and columns of the tiles that are transposed one after the other, so that both arrays stay in the first-level
/// cache.
const TILE: usize = 32;

/// `out[j, i] = input[i, j]`.
///
/// # Shapes
/// `input: [rows, cols]`, `out: [cols, rows]`.
#[codelet(
    R, W,
    shape(out = [input.ncols(), input.nrows()]),
    moves = ([1, input.ncols()], 0),
    cuda = crate::kernels::TRANSPOSE,
    gradient = adjoint(transpose),
    reference = crate::reference::moved::transpose,
    error = rounded
)]
pub fn transpose<T: Element>(input: ArrayView2<T>, mut out: ArrayViewMut2<T>) {
    let (rows, cols) = input.dim();
    for row in (0..rows).step_by(TILE) {
        for col in (0..cols).step_by(TILE) {
            for j in col..cols.min(col + TILE) {
                for i in row..rows.min(row + TILE) {
                    out[[j, i]] = input[[i, j]];
                }
            }
        }
    }
}
