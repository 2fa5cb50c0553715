//! An array is not read and written by one call.

use dahl::prelude::*;

#[codelet(R, R, W)]
fn add<T: Real>(x: T, y: T) -> T {
    x + y
}

fn alias(a: &mut Vector<f32>, b: &Vector<f32>) -> dahl::Result<()> {
    add(a, b, a)
}

fn main() {}
