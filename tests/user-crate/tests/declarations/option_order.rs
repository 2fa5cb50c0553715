//! The mode row comes first, and an option once.

use dahl::prelude::*;

#[codelet(R, broadcast, W)]
fn copy<T: Real>(x: T) -> T {
    x
}

#[codelet(R, R, W, in_place = x, in_place = y)]
fn add<T: Real>(x: T, y: T) -> T {
    x + y
}

fn main() {}
