//! [`syrk`]: the product of a matrix with its own transpose.

use dahl_core::Real;
use ndarray::{ArrayView2, ArrayViewMut2, Axis};

use super::{gemm, half};
use crate::cpu::gemm::matrix_mut;
use crate::cpu::scratch::with_scratch;

/// Rows of a diagonal block. Its whole product is computed, though only the lower half is needed.
const BLOCK: usize = 64;

/// `out -= a x a^T`, the lower triangle only: elements of `out` above its diagonal keep their values.
///
/// # Shapes
/// `a: [rows, inner]`, `out: [rows, rows]`.
///
/// # Panics
/// If the shapes do not agree.
pub fn syrk<T: Real>(a: ArrayView2<'_, T>, out: ArrayViewMut2<'_, T>) {
    let rows = a.nrows();
    assert_eq!(out.dim(), (rows, rows), "syrk: out must be square, with the rows of a");
    if rows <= BLOCK {
        return block(a, out);
    }
    let middle = half(rows, BLOCK);
    let (upper_a, lower_a) = a.split_at(Axis(0), middle);
    let (top, bottom) = out.split_at(Axis(0), middle);
    let (top_left, _) = top.split_at(Axis(1), middle);
    let (bottom_left, bottom_right) = bottom.split_at(Axis(1), middle);
    syrk(upper_a, top_left);
    gemm(-T::ONE, lower_a, upper_a.reversed_axes(), T::ONE, bottom_left);
    syrk(lower_a, bottom_right);
}

fn block<T: Real>(a: ArrayView2<'_, T>, mut out: ArrayViewMut2<'_, T>) {
    let rows = a.nrows();
    with_scratch([rows * rows], |[product]: [&mut [T]; 1]| {
        gemm(T::ONE, a, a.reversed_axes(), T::ZERO, matrix_mut(product, [rows, rows]));
        for (row, (mut out, product)) in
            out.rows_mut().into_iter().zip(product.chunks_exact(rows.max(1))).enumerate()
        {
            out.iter_mut().zip(&product[..=row]).for_each(|(out, &product)| *out -= product);
        }
    });
}
