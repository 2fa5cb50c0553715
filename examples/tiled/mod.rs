//! What the examples on tiles share: matrices in tiles, and the command line.

mod settings;

use dahl::prelude::*;
pub use settings::Settings;

/// A matrix in tiles, each an array of its own and so contiguous. The tiles at the end may be smaller.
pub struct Tiles<T: Real> {
    rows: Vec<Vec<Matrix<'static, T>>>,
}

impl<T: Real> Tiles<T> {
    /// A square matrix of `n` rows, in tiles of `tile` rows.
    pub fn square(rt: &Runtime, n: usize, tile: usize) -> dahl::Result<Self> {
        Self::new(rt, n, tile, |_| n.div_ceil(tile))
    }

    /// The lower triangle of one: tile row `i` has `i + 1` tiles.
    pub fn lower(rt: &Runtime, n: usize, tile: usize) -> dahl::Result<Self> {
        Self::new(rt, n, tile, |row| row + 1)
    }

    fn new(rt: &Runtime, n: usize, tile: usize, tiles_of: impl Fn(usize) -> usize) -> dahl::Result<Self> {
        let extent = |index: usize| tile.min(n - index * tile);
        let row = |i| (0..tiles_of(i)).map(|j| rt.zeros([extent(i), extent(j)])).collect();
        let rows = (0..n.div_ceil(tile)).map(row).collect::<dahl::Result<_>>()?;
        Ok(Self { rows })
    }

    /// The tiles, row by row.
    pub fn rows(&self) -> &[Vec<Matrix<'static, T>>] {
        &self.rows
    }

    /// The tiles, row by row.
    pub fn rows_mut(&mut self) -> &mut [Vec<Matrix<'static, T>>] {
        &mut self.rows
    }
}

/// What a run has shown.
pub struct Outcome {
    /// Operations per nanosecond of the runtime's clock, which is a virtual one on a simulated machine.
    pub gflops: f64,
    /// How far the result is from the exact one, relative to the norm of what it is made of.
    pub error: f64,
    /// The most that rounding explains.
    pub bound: f64,
}

/// Prints what a run has shown. Exits with an error if the result is wrong.
pub(crate) fn report(settings: &Settings, run: dahl::Result<Outcome>) -> std::process::ExitCode {
    match run {
        Ok(Outcome { gflops, error, bound }) => {
            let Settings { n, tile, element, .. } = settings;
            println!(
                "n = {n}, tiles of {tile}, {element}: {gflops:.1} GFLOP/s, error {error:.1e} (bound {bound:.1e})"
            );
            if error <= bound { std::process::ExitCode::SUCCESS } else { std::process::ExitCode::FAILURE }
        }
        Err(error) => {
            eprintln!("{error}");
            std::process::ExitCode::FAILURE
        }
    }
}
