//! A shape is an array's name or an array of extents, of the right rank.

use dahl::prelude::*;

use dahl::ndarray::{ArrayView1, ArrayView2, ArrayViewMut2};

#[codelet(R, W, shape(out = x.len()))]
fn outer<T: Real>(x: ArrayView1<T>, out: ArrayViewMut2<T>) {
    let _ = (x, out);
}

#[codelet(R, R, W, shape(out = y), check(x.len()))]
fn wrong_rank<T: Real>(x: ArrayView2<T>, y: ArrayView1<T>, out: ArrayViewMut2<T>) {
    let _ = (x, y, out);
}

fn main() {}
