//! [`gemm`]: the general matrix product.

use dahl_core::Real;
use ndarray::{ArrayView2, ArrayViewMut2};

use crate::cpu;

/// `out = alpha * a x b + beta * out`; with a `beta` of 0, `out` is not read. To transpose a factor, pass a transposed
/// view: `b.t()`.
///
/// # Shapes
/// `a: [rows, inner]`, `b: [inner, cols]`, `out: [rows, cols]`.
///
/// # Panics
/// If the shapes do not agree.
pub fn gemm<T: Real>(
    alpha: T,
    a: ArrayView2<'_, T>,
    b: ArrayView2<'_, T>,
    beta: T,
    out: ArrayViewMut2<'_, T>,
) {
    cpu::gemm::scaled_product(alpha, a, b, beta, out);
}
