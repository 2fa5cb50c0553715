//! Views are recognised by name.

use dahl::prelude::*;

#[codelet(R, W)]
fn first<T: Real>(x: &Vec<T>, out: &mut [T]) {
    out.copy_from_slice(x);
}

#[codelet(R, W)]
fn second<T: Real>(x: T, out: &mut T) {
    *out = x;
}

fn main() {}
