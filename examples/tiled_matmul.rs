//! A matrix product in tiles, `c = a x b`: one codelet, and three loops.
//!
//! Each tile of `c` is a chain of products that add to it; chains are independent.

mod tiled;

use dahl::blas;
use dahl::ndarray::{ArrayView2, ArrayViewMut2};
use dahl::prelude::*;
pub use tiled::{Outcome, Settings, Tiles};

/// `c += a x b`.
#[codelet(R, R, RW, cpu_only, flops = 2 * a.len() * b.ncols())]
pub fn gemm<T: Real>(a: ArrayView2<T>, b: ArrayView2<T>, c: ArrayViewMut2<T>) {
    blas::gemm(T::ONE, a, b, T::ONE, c);
}

/// `c += a x b`. A task comes first if much of its chain is left.
pub fn multiply<T: Real>(a: &Tiles<T>, b: &Tiles<T>, c: &mut Tiles<T>) -> dahl::Result<()> {
    let tiles = b.rows().len();
    for (i, row) in c.rows_mut().iter_mut().enumerate() {
        for (j, c) in row.iter_mut().enumerate() {
            for (k, a) in a.rows()[i].iter().enumerate() {
                Gemm::task(a, &b.rows()[k][j], c).priority((tiles - k) as i32).submit()?;
            }
        }
    }
    Ok(())
}

/// Entry `[i, j]` of the matrix with the number `seed`: an eighth from -1 to 1, so that products are exact in f64.
fn entry(seed: usize, i: usize, j: usize) -> f64 {
    let mixed = (i * 37 + j * 101 + seed * 59) ^ (i * j);
    (mixed % 17) as f64 / 8.0 - 1.0
}

/// Fills in a tile whose first entry is `[row, col]` of the matrix with the number `seed`.
#[codelet(W, cpu_only)]
pub fn eighths<T: Real>(mut out: ArrayViewMut2<T>, seed: usize, row: usize, col: usize) {
    for ((i, j), out) in out.indexed_iter_mut() {
        *out = T::from_f64(entry(seed, row + i, col + j));
    }
}

/// Fills in the matrix with the number `seed`.
pub fn fill<T: Real>(matrix: &mut Tiles<T>, tile: usize, seed: usize) -> dahl::Result<()> {
    for (i, row) in matrix.rows_mut().iter_mut().enumerate() {
        for (j, out) in row.iter_mut().enumerate() {
            eighths(out, seed, i * tile, j * tile)?;
        }
    }
    Ok(())
}

/// The largest difference of some entries of `c` from exact ones: one in each row.
fn largest_error<T: Real>(c: &Tiles<T>, n: usize, tile: usize) -> dahl::Result<f64> {
    let mut largest = 0.0_f64;
    for i in 0..n {
        let j = (i * 7 + 3) % n;
        let exact: f64 = (0..n).map(|k| entry(1, i, k) * entry(2, k, j)).sum();
        let entry = c.rows()[i / tile][j / tile].read()?[[i % tile, j % tile]];
        largest = largest.max((entry.to_f64() - exact).abs());
    }
    Ok(largest)
}

/// Multiplies two matrices, and compares entries of the product with exact ones.
pub fn run<T: Real>(settings: &Settings) -> dahl::Result<Outcome> {
    let Settings { n, tile, .. } = *settings;
    let rt = settings.runtime()?;
    let [mut a, mut b, mut c] = [
        Tiles::<T>::square(&rt, n, tile)?,
        Tiles::<T>::square(&rt, n, tile)?,
        Tiles::<T>::square(&rt, n, tile)?,
    ];
    fill(&mut a, tile, 1)?;
    fill(&mut b, tile, 2)?;
    rt.wait()?;

    let begin_ns = rt.clock().now_ns();
    multiply(&a, &b, &mut c)?;
    rt.wait()?;
    let ns = rt.clock().now_ns() - begin_ns;

    // Each entry is a sum of `n` products of numbers up to 1.
    Ok(Outcome {
        gflops: 2.0 * (n as f64).powi(3) / ns as f64,
        error: largest_error(&c, n, tile)? / n as f64,
        bound: T::EPSILON.to_f64() * (n as f64).sqrt(),
    })
}

/// [`run`] with the element type of the settings.
pub fn run_type(settings: &Settings) -> dahl::Result<Outcome> {
    if settings.element == "f32" { run::<f32>(settings) } else { run::<f64>(settings) }
}

fn main() -> std::process::ExitCode {
    let settings = Settings::from_command_line("Multiplies two matrices in tiles.");
    tiled::report(&settings, run_type(&settings))
}
