//! A shape is given once, for an output, from the inputs.

use dahl::prelude::*;

use dahl::ndarray::{ArrayView2, ArrayViewMut2};

#[codelet(R, W, W, shape(a = x), shape(a = x), shape(b = a), shape(x = a), shape(c = x))]
fn split<T: Real>(x: &[T], a: &mut [T], b: &mut [T]) {
    let _ = (x, a, b);
}

#[codelet(R, W, shape(out = [x.nrows()]))]
fn rows<T: Real>(x: ArrayView2<T>, out: ArrayViewMut2<T>) {
    let _ = (x, out);
}

#[codelet(R, W, shape(out = x))]
fn map<T: Real>(x: T) -> T {
    x
}

fn main() {}
