//! Ops of a user's own with kernels in C: `kernels/weighted_add.c`, `kernels/running_sum.c`.

use dahl::ndarray::{ArrayView2, ArrayViewMut2, Zip};
use dahl::prelude::*;

dahl::include_kernels!();

pub use kernels::{RUNNING_SUM_C, WEIGHTED_ADD_C};

/// `out = alpha * x + (1 - alpha) * y`; the rows before `first_row` are zero.
#[codelet(
    R, R, W,
    shape(out = x),
    check(x.shape() == y.shape()),
    cpu = [kernels::WEIGHTED_ADD_C],
    reference = weighted_add_in_f64,
    error = sum(n = 3)
)]
pub fn weighted_add<T: Real>(
    x: ArrayView2<T>,
    y: ArrayView2<T>,
    mut out: ArrayViewMut2<T>,
    alpha: T,
    first_row: u32,
) {
    let alpha = alpha.widen();
    Zip::indexed(&mut out).and(x).and(y).for_each(|(row, _), out, &x, &y| {
        let sum = alpha * x.widen() + (T::Compute::ONE - alpha) * y.widen();
        *out = if row < first_row as usize { T::ZERO } else { T::narrow(sum) };
    });
}

fn weighted_add_in_f64(
    x: ArrayView2<f64>,
    y: ArrayView2<f64>,
    mut out: ArrayViewMut2<f64>,
    alpha: f64,
    first_row: u32,
) {
    for ((row, column), out) in out.indexed_iter_mut() {
        let sum = alpha.mul_add(x[[row, column]], (1.0 - alpha) * y[[row, column]]);
        *out = if row < first_row as usize { 0.0 } else { sum };
    }
}

/// `out[i] = x[0] + .. + x[i]`, in row-major order.
#[codelet(R, W, shape(out = x), cpu = [kernels::RUNNING_SUM_C], error = sum(n = x.len()))]
pub fn running_sum<T: Real>(x: &[T], out: &mut [T]) {
    let mut sum = 0.0;
    for (out, &x) in out.iter_mut().zip(x) {
        sum += x.to_f64();
        *out = T::from_f64(sum);
    }
}
