//! A kernel with views returns nothing.

use dahl::prelude::*;

#[codelet(R, W)]
fn sum<T: Real>(x: &[T], out: &mut [T]) -> T {
    let _ = out;
    x[0]
}

fn main() {}
