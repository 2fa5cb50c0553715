//! One error hides no other.

use dahl::prelude::*;

#[codelet(R, w, W, in_plaze = x, shape(out = y), cpu = 3)]
fn add<T: Real>(x: T, arena: &T) -> T {
    x.gamma() + *arena
}

fn main() {}
