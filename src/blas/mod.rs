//! Dense linear algebra for kernels: [`gemm`], and on it [`syrk`], [`trsm`] and [`potrf`], on one core.
//!
//! These are not codelets: the body of a codelet calls them on its views. The names are those of BLAS and LAPACK. Of
//! the many variants there, each has the one that a tiled Cholesky factorisation needs. The last three divide their
//! operands in halves until a block is small, so that [`gemm`] does nearly all of the work (Elmroth, Gustavson, Jonsson
//! and Kågström 2004, *Recursive blocked algorithms and hybrid data structures for dense matrix library software*).
//!
//! Operands may have any strides; contiguous rows are fast. So are `f32` and `f64`: other types give correct results
//! slowly.
//!
//! ```
//! use dahl::ndarray::array;
//!
//! let a = array![[4.0, 2.0], [2.0, 5.0]];
//! let mut factor = a.clone();
//! dahl::blas::potrf(factor.view_mut()).unwrap();
//! assert_eq!(factor, array![[2.0, 0.0], [1.0, 2.0]]);
//!
//! let mut product = a.clone();
//! dahl::blas::gemm(-1.0, factor.view(), factor.t(), 1.0, product.view_mut());
//! assert_eq!(product, array![[0.0, 0.0], [0.0, 0.0]]);
//! ```

mod gemm;
mod potrf;
mod syrk;
mod trsm;

pub use gemm::gemm;
pub use potrf::{NotPositiveDefinite, potrf};
pub use syrk::syrk;
pub use trsm::trsm;

/// Where to divide `length` elements in two: a multiple of `unit` near the middle.
fn half(length: usize, unit: usize) -> usize {
    (length / 2).next_multiple_of(unit)
}

#[cfg(test)]
mod tests;
