//! The kernel of `parallel = PATH` has the signature of the declaration.

use dahl::prelude::*;

fn by_parts<T: Real>(x: &[T], out: &mut [T], parts: usize) {
    let _ = (x, out, parts);
}

#[codelet(R, W, parallel = by_parts)]
fn copy<T: Real>(x: &[T], out: &mut [T]) {
    out.copy_from_slice(x);
}

fn main() {}
