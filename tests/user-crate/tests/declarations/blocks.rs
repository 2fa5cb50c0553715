//! `blocks` is the order of a reduction of one input.

use dahl::ndarray::ArrayViewMut0;
use dahl::prelude::*;

#[codelet(R, W, blocks = 1024)]
fn copied<T: Real>(x: &[T], out: &mut [T]) {
    out.copy_from_slice(x);
}

#[codelet(R, R, REDUX, shape(out = []), blocks = 1024)]
fn inner<T: Real>(x: &[T], y: &[T], mut out: ArrayViewMut0<T::Compute>) {
    out[[]] += dahl::simd::dot(x, y);
}

fn main() {}
