//! A scratch needs its extents.

use dahl::prelude::*;

#[codelet(R, SCRATCH, W)]
fn smooth<T: Real>(x: &[T], tmp: &mut [T], out: &mut [T]) {
    let _ = (x, tmp, out);
}

fn main() {}
