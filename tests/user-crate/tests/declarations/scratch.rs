//! A scratch needs its extents, and follows an array.

use dahl::prelude::*;

#[codelet(R, SCRATCH, W)]
fn smooth<T: Real>(x: &[T], tmp: &mut [T], out: &mut [T]) {
    let _ = (x, tmp, out);
}

#[codelet(SCRATCH, R, W, shape(tmp = x))]
fn sharpen<T: Real>(tmp: &mut [T], x: &[T], out: &mut [T]) {
    let _ = (x, tmp, out);
}

fn main() {}
