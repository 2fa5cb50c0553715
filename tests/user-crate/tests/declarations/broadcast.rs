//! Maps broadcast; kernels see their views as they are.

use dahl::prelude::*;

#[codelet(R, W, broadcast)]
fn copy<T: Real>(x: &[T], out: &mut [T]) {
    out.copy_from_slice(x);
}

fn main() {}
