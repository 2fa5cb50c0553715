//! [`rotate_180`]: rotates images by 180 degrees, as the gradient of a convolution rotates its filters.

use dahl::ndarray::{ArrayViewD, ArrayViewMutD, Axis};
use dahl::prelude::*;

/// `out[.., i, j] = input[.., rows - 1 - i, cols - 1 - j]`. It is its own inverse, and its own gradient.
///
/// # Shapes
/// `input` and `out: [.., rows, cols]`.
#[codelet(
    R, W,
    shape(out = input),
    check(input.shape().len() >= 2),
    cuda = crate::kernels::ROTATE_180,
    gradient = adjoint(rotate_180),
    reference = crate::reference::moved::rotate_180,
    error = rounded
)]
pub fn rotate_180<T: Element>(input: ArrayViewD<T>, mut out: ArrayViewMutD<T>) {
    let mut turned = input;
    for axis in [turned.ndim() - 2, turned.ndim() - 1] {
        turned.invert_axis(Axis(axis));
    }
    out.assign(&turned);
}
