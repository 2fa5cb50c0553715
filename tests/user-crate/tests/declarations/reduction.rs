//! Reductions are sum, max and min; only they accumulate in the compute type.

use dahl::prelude::*;

#[codelet(R, REDUX(product))]
fn product<T: Real>(x: &[T], out: &mut [T]) {
    let _ = (x, out);
}

#[codelet(R, RW(max))]
fn largest<T: Real>(x: &[T], out: &mut [T]) {
    let _ = (x, out);
}

#[codelet(R, RW)]
fn sum<T: Real>(x: &[T], out: &mut [T::Compute]) {
    let _ = (x, out);
}

fn main() {}
