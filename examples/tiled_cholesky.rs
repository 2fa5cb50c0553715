//! The Cholesky factorisation of a matrix in tiles, `a = l x l^T`: the program by which task runtimes are judged.
//!
//! Four codelets and three loops. The loops say nothing of what may run at the same time, or where: the modes of the
//! codelets do.

mod tiled;

use dahl::blas;
use dahl::ndarray::{ArrayView2, ArrayViewMut2};
use dahl::prelude::*;
pub use tiled::{Outcome, Settings, Tiles};

/// `a = l`, the lower triangular factor: `a = l x l^T`.
#[codelet(RW, cpu_only, flops = a.nrows().pow(3) / 3)]
pub fn potrf<T: Real>(a: ArrayViewMut2<T>) {
    blas::potrf(a).unwrap_or_else(|error| panic!("{error}"));
}

/// `b = b x l^-T`.
#[codelet(R, RW, cpu_only, flops = b.len() * b.ncols())]
pub fn trsm<T: Real>(l: ArrayView2<T>, b: ArrayViewMut2<T>) {
    blas::trsm(l, b);
}

/// `c -= a x a^T`, the lower triangle.
#[codelet(R, RW, cpu_only, flops = a.len() * (a.nrows() + 1))]
pub fn syrk<T: Real>(a: ArrayView2<T>, c: ArrayViewMut2<T>) {
    blas::syrk(a, c);
}

/// `c -= a x b^T`.
#[codelet(R, R, RW, cpu_only, flops = 2 * a.len() * b.nrows())]
pub fn gemm<T: Real>(a: ArrayView2<T>, b: ArrayView2<T>, c: ArrayViewMut2<T>) {
    blas::gemm(-T::ONE, a, b.reversed_axes(), T::ONE, c);
}

/// Makes of the lower triangle of a matrix its factor. Tasks on the critical path have the highest priorities.
pub fn factorise<T: Real>(a: &mut Tiles<T>) -> dahl::Result<()> {
    let rows = a.rows_mut();
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

/// Entries `min(i, j) / max(i, j)`, counted from 1, and 1 more on the diagonal: dense, and positive definite.
#[codelet(W, cpu_only)]
pub fn lehmer<T: Real>(mut out: ArrayViewMut2<T>, row: usize, col: usize) {
    for ((i, j), out) in out.indexed_iter_mut() {
        let (i, j) = ((row + i + 1) as f64, (col + j + 1) as f64);
        *out = T::from_f64(i.min(j) / i.max(j) + f64::from(i == j));
    }
}

/// `sum +=` the squares of the lower triangle, or of all where `whole` holds.
#[codelet(R, REDUX, cpu_only, shape(sum = []))]
pub fn squares<T: Real>(tile: ArrayView2<T>, sum: &mut [f64], whole: bool) {
    let counts = |i: usize, j: usize| whole || j <= i;
    let terms = tile.indexed_iter().filter(|&((i, j), _)| counts(i, j));
    sum[0] += terms.map(|(_, value)| value.to_f64() * value.to_f64()).sum::<f64>();
}

/// Fills in the lower triangle of a matrix.
pub fn fill<T: Real>(a: &mut Tiles<T>, tile: usize) -> dahl::Result<()> {
    for (i, row) in a.rows_mut().iter_mut().enumerate() {
        for (j, out) in row.iter_mut().enumerate() {
            lehmer(out, i * tile, j * tile)?;
        }
    }
    Ok(())
}

/// The Frobenius norm of the lower triangle.
fn norm<T: Real>(rt: &Runtime, a: &Tiles<T>) -> dahl::Result<f64> {
    let mut sum = rt.zeros::<f64, 0>([])?;
    for (i, row) in a.rows().iter().enumerate() {
        for (j, tile) in row.iter().enumerate() {
            squares(tile, &mut sum, j < i)?;
        }
    }
    Ok(sum.read()?[[]].sqrt())
}

/// `|a - l x l^T| / |a|`, of lower triangles; `a` becomes the difference.
pub fn residual<T: Real>(rt: &Runtime, mut a: Tiles<T>, l: &Tiles<T>) -> dahl::Result<f64> {
    let whole = norm(rt, &a)?;
    for (i, row) in a.rows_mut().iter_mut().enumerate() {
        for (j, out) in row.iter_mut().enumerate() {
            for k in 0..=j {
                gemm(&l.rows()[i][k], &l.rows()[j][k], out)?;
            }
        }
    }
    Ok(norm(rt, &a)? / whole)
}

/// Factorises a matrix, and compares the product of the factors with it.
pub fn run<T: Real>(settings: &Settings) -> dahl::Result<Outcome> {
    let Settings { n, tile, .. } = *settings;
    let rt = settings.runtime()?;
    let mut l = Tiles::<T>::lower(&rt, n, tile)?;
    fill(&mut l, tile)?;
    rt.wait()?;

    let begin_ns = rt.clock().now_ns();
    factorise(&mut l)?;
    rt.wait()?;
    let ns = rt.clock().now_ns() - begin_ns;

    let mut a = Tiles::<T>::lower(&rt, n, tile)?;
    fill(&mut a, tile)?;
    Ok(Outcome {
        gflops: (n as f64).powi(3) / 3.0 / ns as f64,
        error: residual(&rt, a, &l)?,
        bound: T::EPSILON.to_f64() * (n as f64).sqrt(),
    })
}

/// [`run`] with the element type of the settings.
pub fn run_type(settings: &Settings) -> dahl::Result<Outcome> {
    if settings.element == "f32" { run::<f32>(settings) } else { run::<f64>(settings) }
}

fn main() -> std::process::ExitCode {
    let settings = Settings::from_command_line("Factorises a matrix in tiles (Cholesky).");
    tiled::report(&settings, run_type(&settings))
}
