//! The mode row and the types agree: R takes a shared view, all others a mutable one.

use dahl::prelude::*;

use dahl::ndarray::{ArrayView2, ArrayViewMut2};

#[codelet(R, W)]
fn copy<T: Real>(x: ArrayViewMut2<T>, out: ArrayView2<T>) {
    let _ = (x, out);
}

#[codelet(R, COMMUTE)]
fn add_to<T: Real>(x: &mut [T], out: &[T]) {
    let _ = (x, out);
}

fn main() {}
