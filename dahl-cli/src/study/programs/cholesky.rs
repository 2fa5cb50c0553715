//! [`Cholesky`]: the factorisation of a matrix in tiles, `a = l x l^T`, a common benchmark of task runtimes.

use dahl::blas;
use dahl::ndarray::{ArrayView2, ArrayViewMut2};
use dahl::prelude::*;

/// `a = l`, the lower triangular factor: `a = l x l^T`.
#[codelet(RW, cpu_only, flops = a.nrows().pow(3) / 3)]
fn potrf<T: Real>(a: ArrayViewMut2<T>) {
    blas::potrf(a).unwrap_or_else(|error| panic!("{error}"));
}

/// `b = b x l^-T`.
#[codelet(R, RW, cpu_only, flops = b.len() * b.ncols())]
fn trsm<T: Real>(l: ArrayView2<T>, b: ArrayViewMut2<T>) {
    blas::trsm(l, b);
}

/// `c -= a x a^T`, the lower triangle.
#[codelet(R, RW, cpu_only, flops = a.len() * (a.nrows() + 1))]
fn syrk<T: Real>(a: ArrayView2<T>, c: ArrayViewMut2<T>) {
    blas::syrk(a, c);
}

/// `c -= a x b^T`.
#[codelet(R, R, RW, cpu_only, flops = 2 * a.len() * b.nrows())]
pub(crate) fn gemm<T: Real>(a: ArrayView2<T>, b: ArrayView2<T>, c: ArrayViewMut2<T>) {
    blas::gemm(-T::ONE, a, b.reversed_axes(), T::ONE, c);
}

/// A matrix of so many square tiles each way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cholesky {
    pub(crate) tiles: usize,
    /// Rows of a tile.
    pub(crate) rows: usize,
}

impl Cholesky {
    /// Factorises `tiles` times the identity. Returns the duration without the initialisation.
    pub(crate) fn run(&self, rt: &Runtime) -> dahl::Result<u64> {
        let mut lower = Vec::new();
        for i in 0..self.tiles {
            let row: dahl::Result<Vec<Matrix<'static, f32>>> =
                (0..=i).map(|_| rt.zeros([self.rows, self.rows])).collect();
            let mut row = row?;
            row[i].write()?.diag_mut().fill(self.tiles as f32);
            lower.push(row);
        }
        rt.wait()?;
        let begin_ns = rt.clock().now_ns();
        factorise(&mut lower)?;
        rt.wait()?;
        Ok(rt.clock().now_ns() - begin_ns)
    }
}

/// Right-looking; tasks on the critical path have the highest priorities.
fn factorise<T: Real>(rows: &mut [Vec<Matrix<'static, T>>]) -> dahl::Result<()> {
    let tiles = rows.len();
    let priority = |steps: usize| (2 * tiles - steps.min(2 * tiles)) as i32;
    for k in 0..tiles {
        let (above, below) = rows.split_at_mut(k + 1);
        let diagonal = &mut above[k][k];
        Potrf::task(diagonal).priority(priority(2 * k)).submit()?;
        for (i, row) in (k + 1..).zip(below.iter_mut()) {
            Trsm::task(diagonal, &mut row[k]).priority(priority(k + i)).submit()?;
        }
        for i in k + 1..tiles {
            let (above, below) = rows.split_at_mut(i);
            let (left, right) = below[0].split_at_mut(k + 1);
            for (j, row) in (k + 1..).zip(&above[k + 1..]) {
                Gemm::task(&left[k], &row[k], &mut right[j - k - 1]).priority(priority(i + j)).submit()?;
            }
            Syrk::task(&left[k], &mut right[i - k - 1]).priority(priority(2 * i)).submit()?;
        }
    }
    Ok(())
}
