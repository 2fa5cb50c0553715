//! [`transpose`]: turns rows into columns.

use dahl::ndarray::{ArrayView2, ArrayViewMut2};
use dahl::prelude::*;

use crate::cpu::axes::permute;
use crate::cpu::row_major::{elements, row_major, write};

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
pub fn transpose<T: Element>(input: ArrayView2<T>, out: ArrayViewMut2<T>) {
    let from = row_major(&input);
    write(out, |out| permute(elements(&from), input.shape(), &[1, 0], out));
}
