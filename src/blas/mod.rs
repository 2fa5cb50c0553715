//! Dense linear algebra for kernels: [`gemm`], and on it [`syrk`], [`trsm`] and [`potrf`], on one core.
//!
//! These are not codelets: they are what the body of a codelet calls, on the views that it is given. Names are BLAS's
//! and LAPACK's; of their many variants there is one each, which a Cholesky factorisation in tiles needs. All three
//! divide their operands in halves until a block is small, so that nearly all of the work is done by [`gemm`], at its
//! rate (Elmroth, Gustavson, Jonsson and Kågström 2004, *Recursive blocked algorithms and hybrid data structures for
//! dense matrix library software*).
//!
//! Operands may have any strides; rows that are contiguous are fast. `f32` and `f64` are: other types are right, and
//! slow.
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
