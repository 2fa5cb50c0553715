//! [`Products`]: a matrix product in tiles.

use dahl::prelude::*;

use super::cholesky::Gemm;

/// `c -= a x b^T`, of matrices of so many square tiles each way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Products {
    pub(crate) tiles: usize,
    /// Rows of a tile.
    pub(crate) rows: usize,
}

impl Products {
    /// Multiplies, and returns the duration without the initialisation.
    pub(crate) fn run(&self, rt: &Runtime) -> dahl::Result<u64> {
        let tiles = || -> dahl::Result<Vec<Matrix<'static, f32>>> {
            (0..self.tiles * self.tiles).map(|_| rt.zeros([self.rows, self.rows])).collect()
        };
        let (a, b, mut c) = (tiles()?, tiles()?, tiles()?);
        rt.wait()?;
        let begin_ns = rt.clock().now_ns();
        for (index, c) in c.iter_mut().enumerate() {
            let (i, j) = (index / self.tiles, index % self.tiles);
            for k in 0..self.tiles {
                Gemm::task(&a[i * self.tiles + k], &b[j * self.tiles + k], c).submit()?;
            }
        }
        rt.wait()?;
        Ok(rt.clock().now_ns() - begin_ns)
    }
}
