//! [`copy`]: copies the elements to another array.

use dahl::ndarray::{ArrayViewD, ArrayViewMutD};
use dahl::prelude::*;

use crate::cpu::row_major::row_major_strides;

/// `out = input`, element by element.
#[codelet(R, W, shape(out = input), moves = (row_major_strides(input.shape()), 0), cuda = crate::kernels::COPY, gradient = adjoint(copy), reference = crate::reference::moved::copy, error = rounded)]
pub fn copy<T: Element>(input: ArrayViewD<T>, mut out: ArrayViewMutD<T>) {
    match (input.as_slice(), out.as_slice_mut()) {
        (Some(input), Some(out)) => out.copy_from_slice(input),
        _ => out.assign(&input),
    }
}
