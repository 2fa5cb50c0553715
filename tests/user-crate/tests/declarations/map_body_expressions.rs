//! The expressions of a map's body are those that every device has.

use dahl::prelude::*;

fn square<T: Real>(x: T) -> T {
    x * x
}

#[codelet(R, W)]
fn first<T: Real>(x: T) -> T {
    let table = [T::ZERO, T::ONE];
    let pick = |i: usize| table[i];
    square(*&x) + pick(0) + T::from_f64(3 as f64)
}

#[codelet(R, W)]
fn second<T: Real>(x: T) -> T {
    match x.gamma() > T::ZERO {
        true => x,
        false => unsafe { x },
    }
}

fn main() {}
