//! A map takes and returns elements, by value.

use dahl::prelude::*;

#[codelet(R, W)]
fn by_reference<T: Real>(x: &T) -> T {
    x
}

#[codelet(R, W)]
fn two_results<T: Real>(x: T) -> (T, T) {
    x.sin_cos()
}

#[codelet(R, W)]
fn nameless(x: impl Real) -> f32 {
    x
}

fn main() {}
