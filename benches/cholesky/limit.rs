//! [`Limit`]: what the cores can do at the moment.

use std::hint::black_box;
use std::sync::Barrier;
use std::thread;

use super::cpu_time::thread_time_ns;
use dahl::Real;
use dahl::blas;
use dahl::ndarray::Array2;
use dahl::simd::{Vectorised, dispatch};

/// Rows of the matrices that are multiplied.
const ROWS: usize = 2048;

/// Steps of the loop of multiply-adds.
const STEPS: usize = 40_000_000;

/// Sums that the loop adds to, in bytes: twelve of the widest registers.
const SUM_BYTES: usize = 12 * 64;

/// Rates of all cores together, in operations per nanosecond of their time.
#[derive(Clone, Copy)]
pub(crate) struct Limit {
    /// Fused multiply-adds in registers.
    pub(crate) peak: f64,
    /// Products of matrices.
    pub(crate) gemm: f64,
}

impl Limit {
    pub(crate) fn measure<T: Real>(cores: usize) -> Self {
        Self { peak: rate(cores, multiply_adds::<T>), gemm: rate(cores, products::<T>) }
    }
}

/// The rate of a kind of work on so many threads at once. `prepare` gives the work, which says how many operations it
/// has done.
fn rate<W: FnOnce() -> f64>(threads: usize, prepare: impl Fn() -> W + Sync) -> f64 {
    let barrier = Barrier::new(threads);
    let of_thread = || {
        let work = prepare();
        barrier.wait();
        let begin_ns = thread_time_ns();
        let flops = work();
        flops / (thread_time_ns() - begin_ns)
    };
    thread::scope(|scope| {
        let handles: Vec<_> = (0..threads).map(|_| scope.spawn(of_thread)).collect();
        handles.into_iter().map(|handle| handle.join().expect("the work does not panic")).sum()
    })
}

fn products<T: Real>() -> impl FnOnce() -> f64 {
    let matrix =
        |scale| Array2::from_shape_fn((ROWS, ROWS), |(i, j)| T::from_f64(scale / (i + j + 1) as f64));
    let (a, b, mut c) = (matrix(1.0), matrix(2.0), matrix(3.0));
    move || {
        blas::gemm(-T::ONE, a.view(), b.t(), T::ONE, c.view_mut());
        black_box(c);
        2.0 * (ROWS as f64).powi(3)
    }
}

fn multiply_adds<T: Real>() -> impl FnOnce() -> f64 {
    || match size_of::<T>() {
        4 => dispatch(MultiplyAdds::<T, { SUM_BYTES / 4 }>([T::ONE; SUM_BYTES / 4])),
        _ => dispatch(MultiplyAdds::<T, { SUM_BYTES / 8 }>([T::ONE; SUM_BYTES / 8])),
    }
}

/// `sum = sum * factor + summand`, many sums at once.
struct MultiplyAdds<T, const N: usize>([T; N]);

impl<T: Real, const N: usize> Vectorised for MultiplyAdds<T, N> {
    type Output = f64;

    #[inline(always)]
    fn run(self) -> f64 {
        let (mut sums, factor, summand) = (self.0, black_box(T::from_f64(0.5)), black_box(T::ONE));
        for _ in 0..STEPS {
            for sum in &mut sums {
                *sum = sum.mul_add(factor, summand);
            }
        }
        black_box(sums);
        2.0 * (N * STEPS) as f64
    }
}
