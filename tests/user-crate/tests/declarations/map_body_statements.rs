//! The body of a map has no statement but `let`.

use dahl::prelude::*;

#[codelet(R, W)]
fn power<T: Real>(x: T, n: u32) -> T {
    let mut result = T::ONE;
    for _ in 0..n {
        result = result * x;
    }
    result
}

#[codelet(R, W)]
fn early<T: Real>(x: T) -> T {
    let y;
    y = x;
    if y < T::ZERO {
        return T::ZERO;
    }
    println!("{y}");
    y
}

fn main() {}
