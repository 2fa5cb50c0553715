//! What later versions have is said to be missing, not ignored.

use dahl::prelude::*;

#[codelet(R, W, gradient = copy_gradient)]
fn copy<T: Real>(x: T) -> T {
    x
}

fn main() {}
