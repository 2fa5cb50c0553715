//! `out` and `arena` have a meaning already.

use dahl::prelude::*;

#[codelet(R, R, W)]
fn add<T: Real>(out: T, arena: T) -> T {
    out + arena
}

fn main() {}
