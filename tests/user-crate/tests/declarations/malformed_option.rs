//! A malformed option is shown as it is used.

use dahl::prelude::*;

#[codelet(R, W, in_place)]
fn one<T: Real>(x: T) -> T {
    x
}

#[codelet(R, W, shape = x, cpu = two_unrolled, check(), flops())]
fn two<T: Real>(x: &[T], out: &mut [T]) {
    out.copy_from_slice(x);
}

fn main() {}
