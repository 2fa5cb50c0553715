//! Products of batches of matrices: [`matmul_batched`].
//!
//! Each product of a batch is that of [`matmul`](super::matmul()), with the same bits. Transposed factors are read as they
//! are: nothing is copied to transpose it.

use dahl::Scope;
use dahl::cuda::{CudaArray, CudaArrayMut, CudaCall, CudaCallError};
use dahl::ndarray::{ArrayView3, ArrayViewMut3, Axis};
use dahl::prelude::*;
use dahl::rayon;

use super::Transposed;
use super::matmul::{orient, oriented};
use crate::cpu::gemm::{Cores, product, product_on};

/// The rows and columns of a product's factor, transposed first if `is_transposed`.
fn factor([_, rows, cols]: [usize; 3], is_transposed: bool) -> [usize; 2] {
    oriented([rows, cols], is_transposed)
}

/// The codelet, with all its arguments.
mod declared {
    use super::*;

    /// `out[i] = a[i] x b[i]` for each `i` of the batch, each factor transposed first if `transposed` says so. Sums are in
    /// the compute type.
    ///
    /// # Shapes
    /// `a: [batch, rows, inner]`, or `[batch, inner, rows]` if it is transposed; `b: [batch, inner, cols]`, or
    /// `[batch, cols, inner]`; `out: [batch, rows, cols]`.
    #[codelet(
        R, R, W,
        shape(out = [a.shape()[0], factor(a.shape(), transposed.left)[0], factor(b.shape(), transposed.right)[1]]),
        check(a.shape()[0] == b.shape()[0]),
        check(factor(a.shape(), transposed.left)[1] == factor(b.shape(), transposed.right)[0]),
        flops = 2 * a.len() * out.shape()[2],
        parallel = matmul_batched_on_cores,
        cuda = crate::kernels::MATMUL_BATCHED,
        cuda_call = [cublas matmul_batched_by_cublas],
        gradient = matmul_batched_gradient(a, b),
        reference = crate::reference::matmul::matmul_batched,
        error = sum(n = a.len() / (out.shape()[0] * out.shape()[1]).max(1))
    )]
    pub fn matmul_batched<T: Real>(
        a: ArrayView3<T>,
        b: ArrayView3<T>,
        mut out: ArrayViewMut3<T>,
        transposed: Transposed,
    ) {
        for ((a, b), out) in a.outer_iter().zip(b.outer_iter()).zip(out.outer_iter_mut()) {
            product(orient(a, transposed.left), orient(b, transposed.right), out, false);
        }
    }

    fn matmul_batched_gradient<T: Real>(rule: MatmulBatchedGradient<'_, T>) -> dahl::Result<()> {
        let MatmulBatchedGradient { a, b, gradient, by_a, by_b, transposed, scope } = rule;
        let Transposed { left, right } = transposed;
        if let Some(by_a) = by_a {
            *by_a = match left {
                false => matmul_batched_init(scope, gradient, b, Transposed { left: false, right: !right })?,
                true => matmul_batched_init(scope, b, gradient, Transposed { left: right, right: true })?,
            };
        }
        if let Some(by_b) = by_b {
            *by_b = match right {
                false => matmul_batched_init(scope, a, gradient, Transposed { left: !left, right: false })?,
                true => matmul_batched_init(scope, gradient, a, Transposed { left: true, right: left })?,
            };
        }
        Ok(())
    }

    /// [`matmul_batched`] by cuBLAS.
    fn matmul_batched_by_cublas<T: Real>(
        call: &mut CudaCall<'_>,
        a: CudaArray<'_, T, 3>,
        b: CudaArray<'_, T, 3>,
        mut out: CudaArrayMut<'_, T, 3>,
        transposed: Transposed,
    ) -> Result<(), CudaCallError> {
        let a = if transposed.left { a.transposed_matrices() } else { a };
        let b = if transposed.right { b.transposed_matrices() } else { b };
        call.gemm_batched(1.0, a, b, 0.0, &mut out)
    }

    /// [`matmul_batched`] on several cores, which share the batch, and the last products their rows or columns.
    fn matmul_batched_on_cores<T: Real>(
        a: ArrayView3<T>,
        b: ArrayView3<T>,
        mut out: ArrayViewMut3<T>,
        transposed: Transposed,
    ) {
        let batch = out.len_of(Axis(0));
        if batch > 1 {
            let first = batch / 2;
            let ((a, a_rest), (b, b_rest)) = (a.split_at(Axis(0), first), b.split_at(Axis(0), first));
            let (out, out_rest) = out.split_at(Axis(0), first);
            rayon::join(
                || matmul_batched_on_cores(a, b, out, transposed),
                || matmul_batched_on_cores(a_rest, b_rest, out_rest, transposed),
            );
            return;
        }
        for ((a, b), out) in a.outer_iter().zip(b.outer_iter()).zip(out.outer_iter_mut()) {
            product_on(Cores::Pool, orient(a, transposed.left), orient(b, transposed.right), out, false);
        }
    }
}

pub use declared::{
    MatmulBatched, matmul_batched as matmul_batched_transposed,
    matmul_batched_init as matmul_batched_transposed_init,
};

/// `out[i] = a[i] x b[i]` for each `i` of the batch. Sums are in the compute type.
///
/// ```
/// use dahl::ops::matmul_batched_init;
/// use dahl::prelude::*;
///
/// # fn main() -> dahl::Result<()> {
/// let rt = Runtime::new()?;
/// let arena = rt.arena();
/// let a = arena.from_slice([2, 1, 2], &[1.0_f32, 2.0, 3.0, 4.0])?;
/// let b = arena.from_slice([2, 2, 1], &[1.0_f32, 1.0, 1.0, 2.0])?;
/// assert_eq!(matmul_batched_init(&arena, &a, &b)?.to_vec()?, [3.0, 11.0]);
/// # Ok(())
/// # }
/// ```
///
/// # Shapes
/// `a: [batch, rows, inner]`, `b: [batch, inner, cols]`, `out: [batch, rows, cols]`. [`matmul_batched_transposed`] takes
/// transposes of such factors.
///
/// # Errors
/// If the shapes do not agree.
#[track_caller]
pub fn matmul_batched<T: Real>(
    a: &Array<'_, T, 3>,
    b: &Array<'_, T, 3>,
    out: &mut Array<'_, T, 3>,
) -> dahl::Result<()> {
    declared::matmul_batched(a, b, out, Transposed::NEITHER)
}

/// [`matmul_batched`] into a new array of `scope`.
///
/// # Errors
/// As for [`matmul_batched`], or if memory cannot be allocated.
#[track_caller]
pub fn matmul_batched_init<'m, T: Real>(
    scope: &'m impl Scope<MatmulBatched>,
    a: &Array<'_, T, 3>,
    b: &Array<'_, T, 3>,
) -> dahl::Result<Array<'m, T, 3>> {
    declared::matmul_batched_init(scope, a, b, Transposed::NEITHER)
}
