//! A declaration that names a kernel of other modes, and one whose argument is of another type. Nothing calls them.

use dahl::prelude::*;

mod kernels {
    pub use user_crate::{RUNNING_SUM_C, WEIGHTED_ADD_C};
}

#[codelet(R, R, REDUX, shape(out = []), cpu = [kernels::RUNNING_SUM_C])]
pub fn dot<T: Real>(x: &[T], y: &[T], out: &mut [T::Compute]) {
    out[0] += dahl::simd::dot(x, y);
}

#[codelet(R, R, W, cpu = [kernels::WEIGHTED_ADD_C])]
pub fn blend<T: Real>(x: &[T], y: &[T], out: &mut [T], alpha: T, first_row: u64) {
    let _ = (x, y, out, alpha, first_row);
}

fn main() {}
