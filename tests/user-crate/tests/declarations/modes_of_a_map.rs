//! The inputs of a map are R, its return value W.

use dahl::prelude::*;

#[codelet(RW, W)]
fn double<T: Real>(x: T) -> T {
    x + x
}

#[codelet(R, REDUX)]
fn total<T: Real>(x: T) -> T {
    x
}

fn main() {}
