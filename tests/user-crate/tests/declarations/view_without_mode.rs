//! Every view has a mode, and every plain argument is a value.

use dahl::prelude::*;

#[codelet(R)]
fn copy<T: Real>(x: &[T], out: &mut [T]) {
    out.copy_from_slice(x);
}

#[codelet(W)]
fn fill<T: Real>(out: &mut [T], value: &T) {
    out.fill(*value);
}

fn main() {}
