//! Kernels of `cpu = [..]` have the signature of the declaration.

use dahl::prelude::*;

fn other<T: Real>(x: &[T], out: &mut [T], count: usize) {
    let _ = (x, out, count);
}

#[codelet(R, W, cpu = [other])]
fn copy<T: Real>(x: &[T], out: &mut [T]) {
    out.copy_from_slice(x);
}

fn main() {}
