//! [`copy`]: the same elements in another array.

use dahl::prelude::*;

/// `out = input`, element by element.
#[codelet(R, W, shape(out = input))]
pub fn copy<T: Element>(input: &[T], out: &mut [T]) {
    out.copy_from_slice(input);
}
