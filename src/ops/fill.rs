//! [`fill`]: sets every element to one value.

use dahl::prelude::*;

/// `out = value`, every element.
#[codelet(W, gradient = none, cuda = crate::kernels::FILL, reference = crate::reference::moved::fill, error = rounded)]
pub fn fill<T: Element>(out: &mut [T], value: T) {
    out.fill(value);
}
