//! Matrix products: [`matmul`], [`matmul_add`], [`matvec`], [`outer`].

use dahl::cuda::{CudaArray, CudaArrayMut, CudaCall, CudaCallError};
use dahl::ndarray::{ArrayView1, ArrayView2, ArrayViewMut1, ArrayViewMut2, Axis};
use dahl::prelude::*;

use crate::cpu::gemm::{Cores, product, product_on};

/// `shape`, or its reverse: the shape of a matrix as a product sees it.
fn oriented([rows, cols]: [usize; 2], transpose: bool) -> [usize; 2] {
    if transpose { [cols, rows] } else { [rows, cols] }
}

/// `matrix`, or its transpose.
fn orient<T>(matrix: ArrayView2<'_, T>, transpose: bool) -> ArrayView2<'_, T> {
    if transpose { matrix.reversed_axes() } else { matrix }
}

/// `matrix`, or its transpose.
fn orient_on_device<T: Real>(matrix: CudaArray<'_, T, 2>, transpose: bool) -> CudaArray<'_, T, 2> {
    if transpose { matrix.reversed_axes() } else { matrix }
}

/// `out = a x b`, each factor transposed first if its flag is set. Sums are in the compute type.
///
/// # Shapes
/// `a: [rows, inner]` (`[inner, rows]` if `transpose_a`), `b: [inner, cols]` (`[cols, inner]` if `transpose_b`),
/// `out: [rows, cols]`.
#[codelet(
    R, R, W,
    shape(out = [oriented(a.shape(), transpose_a)[0], oriented(b.shape(), transpose_b)[1]]),
    check(oriented(a.shape(), transpose_a)[1] == oriented(b.shape(), transpose_b)[0]),
    flops = 2 * a.len() * out.ncols(),
    parallel = matmul_on_cores,
    cuda = crate::kernels::MATMUL,
    cuda_call = [cublas matmul_by_cublas],
    reference = crate::reference::matmul::matmul,
    error = sum(n = a.len() / out.nrows().max(1))
)]
pub fn matmul<T: Real>(
    a: ArrayView2<T>,
    b: ArrayView2<T>,
    out: ArrayViewMut2<T>,
    transpose_a: bool,
    transpose_b: bool,
) {
    product(orient(a, transpose_a), orient(b, transpose_b), out, false);
}

/// [`matmul`] on several cores.
fn matmul_on_cores<T: Real>(
    a: ArrayView2<T>,
    b: ArrayView2<T>,
    out: ArrayViewMut2<T>,
    transpose_a: bool,
    transpose_b: bool,
) {
    product_on(Cores::Pool, orient(a, transpose_a), orient(b, transpose_b), out, false);
}

/// [`matmul`] by cuBLAS.
fn matmul_by_cublas<T: Real>(
    call: &mut CudaCall<'_>,
    a: CudaArray<'_, T, 2>,
    b: CudaArray<'_, T, 2>,
    mut out: CudaArrayMut<'_, T, 2>,
    transpose_a: bool,
    transpose_b: bool,
) -> Result<(), CudaCallError> {
    call.gemm(1.0, orient_on_device(a, transpose_a), orient_on_device(b, transpose_b), 0.0, &mut out)
}

/// `out += a x b`, with the factors as in [`matmul`]: products over parts of the inner dimension, such as the gradients
/// of parts of a batch, add up.
///
/// # Shapes
/// As for [`matmul`].
#[codelet(
    R, R, REDUX,
    shape(out = [oriented(a.shape(), transpose_a)[0], oriented(b.shape(), transpose_b)[1]]),
    check(oriented(a.shape(), transpose_a)[1] == oriented(b.shape(), transpose_b)[0]),
    flops = 2 * a.len() * out.ncols(),
    cuda = crate::kernels::MATMUL_ADD,
    cuda_call = [cublas matmul_add_by_cublas],
    reference = crate::reference::matmul::matmul_add,
    error = sum(n = a.len() / out.nrows().max(1) + 1)
)]
pub fn matmul_add<T: Real>(
    a: ArrayView2<T>,
    b: ArrayView2<T>,
    out: ArrayViewMut2<T::Compute>,
    transpose_a: bool,
    transpose_b: bool,
) {
    crate::cpu::gemm::add_product(orient(a, transpose_a), orient(b, transpose_b), out);
}

/// [`matmul_add`] by cuBLAS.
fn matmul_add_by_cublas<T: Real>(
    call: &mut CudaCall<'_>,
    a: CudaArray<'_, T, 2>,
    b: CudaArray<'_, T, 2>,
    mut out: CudaArrayMut<'_, T::Compute, 2>,
    transpose_a: bool,
    transpose_b: bool,
) -> Result<(), CudaCallError> {
    call.gemm(1.0, orient_on_device(a, transpose_a), orient_on_device(b, transpose_b), 1.0, &mut out)
}

/// `out = a x vector`, with `a` transposed first if `transpose_a` is set.
///
/// # Shapes
/// `a: [rows, cols]` (`[cols, rows]` if `transpose_a`), `vector: [cols]`, `out: [rows]`.
#[codelet(
    R, R, W,
    shape(out = [oriented(a.shape(), transpose_a)[0]]),
    check(oriented(a.shape(), transpose_a)[1] == vector.len()),
    flops = 2 * a.len(),
    cuda = crate::kernels::MATVEC,
    cuda_call = [cublas matvec_by_cublas],
    reference = crate::reference::matmul::matvec,
    error = sum(n = vector.len())
)]
pub fn matvec<T: Real>(a: ArrayView2<T>, vector: ArrayView1<T>, out: ArrayViewMut1<T>, transpose_a: bool) {
    product(orient(a, transpose_a), vector.insert_axis(Axis(1)), out.insert_axis(Axis(1)), false);
}

/// [`matvec`] by cuBLAS: its products of a matrix and a vector have no half precision, those of matrices do.
fn matvec_by_cublas<T: Real>(
    call: &mut CudaCall<'_>,
    a: CudaArray<'_, T, 2>,
    vector: CudaArray<'_, T, 1>,
    out: CudaArrayMut<'_, T, 1>,
    transpose_a: bool,
) -> Result<(), CudaCallError> {
    let a = orient_on_device(a, transpose_a);
    call.gemm(1.0, a, vector.into_column(), 0.0, &mut out.into_column())
}

/// `out[i, j] = column[i] * row[j]`.
///
/// # Shapes
/// `column: [rows]`, `row: [cols]`, `out: [rows, cols]`.
#[codelet(
    R, R, W,
    shape(out = [column.len(), row.len()]),
    flops = out.len(),
    cuda = crate::kernels::OUTER,
    reference = crate::reference::matmul::outer,
    error = rounded
)]
pub fn outer<T: Real>(column: ArrayView1<T>, row: ArrayView1<T>, mut out: ArrayViewMut2<T>) {
    let row = row.as_standard_layout();
    for (&factor, mut out) in column.iter().zip(out.rows_mut()) {
        match (out.as_slice_mut(), row.as_slice()) {
            (Some(out), Some(row)) => {
                for (out, &value) in out.iter_mut().zip(row) {
                    *out = factor * value;
                }
            }
            _ => out.zip_mut_with(&row, |out, &value| *out = factor * value),
        }
    }
}
