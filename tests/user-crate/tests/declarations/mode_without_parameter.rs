//! Every mode has a parameter.

use dahl::prelude::*;

#[codelet(R, R, W)]
fn double<T: Real>(x: T) -> T {
    x + x
}

#[codelet(R, R, W)]
fn copy<T: Real>(x: &[T], out: &mut [T]) {
    out.copy_from_slice(x);
}

fn main() {}
