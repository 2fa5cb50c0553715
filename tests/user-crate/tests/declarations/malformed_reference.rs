//! A reference is a path, given once.

use dahl::prelude::*;

#[codelet(R, W, reference)]
fn missing<T: Real>(x: T) -> T {
    x
}

#[codelet(R, W, reference = |x| x)]
fn closure<T: Real>(x: T) -> T {
    x
}

#[codelet(R, W, reference = f64::exp, reference = f64::ln)]
fn twice<T: Real>(x: T) -> T {
    x.exp()
}

fn main() {}
