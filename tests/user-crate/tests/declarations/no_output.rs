//! A codelet changes an array.

use dahl::prelude::*;

#[codelet(R, R)]
fn nothing<T: Real>(x: &[T], y: &[T]) {
    let _ = (x, y);
}

fn main() {}
