//! Ops of a user with kernels in C, `kernels/weighted_add.c`, `kernels/running_sum.c`, in CUDA,
//! `kernels/weighted_add.cu`, and on several cores.

use dahl::ndarray::{ArrayView2, ArrayViewMut2, Zip};
use dahl::prelude::*;
use dahl::rayon::prelude::*;

dahl::include_kernels!();

pub use kernels::{RUNNING_SUM_C, WEIGHTED_ADD, WEIGHTED_ADD_C};

/// `out = alpha * x + (1 - alpha) * y`; the rows before `first_row` are zero.
#[codelet(
    R, R, W,
    shape(out = x),
    check(x.shape() == y.shape()),
    cpu = [kernels::WEIGHTED_ADD_C],
    cuda = kernels::WEIGHTED_ADD,
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

/// The Euclidean norm: the root of the sum of squares, in parts of [`PART`] elements.
#[codelet(
    R, W,
    shape(out = []),
    cpu = [norm_at_once, equal norm_by_two, equal parallel norm_of_parts],
    parallel = norm_of_parts_first
)]
pub fn norm<T: Real>(x: &[T], out: &mut [T]) {
    let sums: Vec<T::Compute> = x.chunks(PART).map(squares).collect();
    out[0] = T::narrow(sums.into_iter().sum::<T::Compute>().sqrt());
}

/// The number of elements whose squares are summed in one part.
pub const PART: usize = 1024;

fn squares<T: Real>(part: &[T]) -> T::Compute {
    part.iter().map(|x| x.widen() * x.widen()).sum()
}

/// [`norm`] in one sum, with other bits.
fn norm_at_once<T: Real>(x: &[T], out: &mut [T]) {
    out[0] = T::narrow(squares(x).sqrt());
}

/// [`norm`] by two parts at a time.
fn norm_by_two<T: Real>(x: &[T], out: &mut [T]) {
    let mut sums = Vec::new();
    for parts in x.chunks(2 * PART) {
        let (a, b) = parts.split_at(parts.len().min(PART));
        sums.push(squares(a));
        sums.extend((!b.is_empty()).then(|| squares(b)));
    }
    out[0] = T::narrow(sums.into_iter().sum::<T::Compute>().sqrt());
}

/// [`norm`] on several cores.
fn norm_of_parts<T: Real>(x: &[T], out: &mut [T]) {
    let sums: Vec<T::Compute> = x.par_chunks(PART).map(squares).collect();
    out[0] = T::narrow(sums.into_iter().sum::<T::Compute>().sqrt());
}

/// The same, as the function's own body on several cores.
fn norm_of_parts_first<T: Real>(x: &[T], out: &mut [T]) {
    norm_of_parts(x, out);
}

/// `out = 1 / (1 + x^2)`, on several cores where the arrays are large.
#[codelet(R, W, parallel)]
pub fn witch<T: Real>(x: T) -> T {
    T::ONE / (T::ONE + x * x)
}

/// The examples of `#[codelet]` and `#[derive(Argument)]`, which users read in the documentation of `dahl-macros`.
#[cfg(doctest)]
mod examples {
    #[doc = include_str!("../../../dahl-macros/docs/codelet.md")]
    struct Codelet;

    #[doc = include_str!("../../../dahl-macros/docs/argument.md")]
    struct Argument;
}
