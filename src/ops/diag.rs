//! Diagonals: a vector as a diagonal matrix ([`diag`]), and the diagonal of a matrix ([`diagonal`]).

use dahl::ndarray::{ArrayView1, ArrayView2, ArrayViewMut1, ArrayViewMut2};
use dahl::prelude::*;

/// `out[i, i] = input[i]`, and 0 elsewhere. Its gradient is [`diagonal`].
///
/// # Shapes
/// `input: [extent]`, `out: [extent, extent]`.
#[codelet(
    R, W,
    shape(out = [input.len(), input.len()]),
    cuda = crate::kernels::DIAG,
    gradient = adjoint(diagonal),
    reference = crate::reference::moved::diag,
    error = rounded
)]
pub fn diag<T: Element>(input: ArrayView1<T>, mut out: ArrayViewMut2<T>) {
    out.fill(T::ZERO);
    out.diag_mut().assign(&input);
}

/// `out[i] = input[i, i]`.
///
/// # Shapes
/// `input: [rows, cols]`, `out: [min(rows, cols)]`.
#[codelet(
    R, W,
    shape(out = [input.nrows().min(input.ncols())]),
    cuda = crate::kernels::DIAGONAL,
    gradient = adjoint(diagonal_backward),
    reference = crate::reference::moved::diagonal,
    error = rounded
)]
pub fn diagonal<T: Element>(input: ArrayView2<T>, mut out: ArrayViewMut1<T>) {
    out.assign(&input.diag());
}

/// The gradient of [`diagonal`] by its input: `out[i, i] = gradient[i]`, and 0 elsewhere. For a square matrix it is
/// [`diag`]; for others the caller must give the shape of `out`.
///
/// # Shapes
/// `gradient: [min(rows, cols)]`, `out: [rows, cols]`.
#[codelet(
    R, W,
    check(gradient.len() == out.nrows().min(out.ncols())),
    cuda = crate::kernels::DIAGONAL_BACKWARD,
    gradient = adjoint(diagonal),
    reference = crate::reference::moved::diagonal_backward,
    error = rounded
)]
pub fn diagonal_backward<T: Element>(gradient: ArrayView1<T>, mut out: ArrayViewMut2<T>) {
    out.fill(T::ZERO);
    out.diag_mut().assign(&gradient);
}
