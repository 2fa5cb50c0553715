//! Matrix products: [`matmul`], [`matmul_add`], [`matvec`], [`outer`].
//!
//! Each product is one codelet, whose arguments say which factors are transposed ([`Transposed`]). The plain functions
//! take the factors as they are. Those named `.._transposed` also take that argument.

use dahl::Scope;
use dahl::cuda::{CudaArray, CudaArrayMut, CudaCall, CudaCallError};
use dahl::ndarray::{ArrayView1, ArrayView2, ArrayViewMut1, ArrayViewMut2, Axis};
use dahl::prelude::*;

use crate::cpu::gemm::{Cores, LEAST_ROWS, add_product, has_vectors, product, product_on};
use crate::cpu::row_major::{elements, row_major};
use crate::ops::Transposed;

/// `shape` or its reverse: the shape of a matrix in a product.
pub(super) fn oriented([rows, cols]: [usize; 2], is_transposed: bool) -> [usize; 2] {
    if is_transposed { [cols, rows] } else { [rows, cols] }
}

/// `matrix`, or its transpose.
pub(super) fn orient<T>(matrix: ArrayView2<'_, T>, is_transposed: bool) -> ArrayView2<'_, T> {
    if is_transposed { matrix.reversed_axes() } else { matrix }
}

/// `matrix`, or its transpose.
fn orient_on_device<T: Real>(matrix: CudaArray<'_, T, 2>, is_transposed: bool) -> CudaArray<'_, T, 2> {
    if is_transposed { matrix.reversed_axes() } else { matrix }
}

/// The codelets, with all their arguments.
mod declared {
    use super::*;

    /// `out = a x b`, each factor transposed first if `transposed` says so. Sums are in the compute type.
    ///
    /// # Shapes
    /// `a: [rows, inner]`, or `[inner, rows]` if it is transposed; `b: [inner, cols]`, or `[cols, inner]`; `out: [rows, cols]`.
    #[codelet(
        R, R, W,
        shape(out = [oriented(a.shape(), transposed.left)[0], oriented(b.shape(), transposed.right)[1]]),
        check(oriented(a.shape(), transposed.left)[1] == oriented(b.shape(), transposed.right)[0]),
        rows(usize::from(computes_rows_apart::<T>(transposed, out.ncols())), whole = [b], least = LEAST_ROWS),
        flops = 2 * a.len() * out.ncols(),
        parallel = matmul_on_cores,
        cuda = crate::kernels::MATMUL,
        cuda_call = [cublas matmul_by_cublas],
        gradient = matmul_gradient(a, b),
        reference = crate::reference::matmul::matmul,
        error = sum(n = a.len() / out.nrows().max(1))
    )]
    pub fn matmul<T: Real>(
        a: ArrayView2<T>,
        b: ArrayView2<T>,
        out: ArrayViewMut2<T>,
        transposed: Transposed,
    ) {
        product(orient(a, transposed.left), orient(b, transposed.right), out, false);
    }

    /// Whether products of some rows of `a` have the bits of that of all ([`LEAST_ROWS`]): `a` and `b` lie as they are read, so
    /// that the factors are not contiguous along the depth, and `T` is not widened in blocks of rows.
    fn computes_rows_apart<T: Real>(transposed: Transposed, cols: usize) -> bool {
        has_vectors::<T>() && !transposed.left && !transposed.right && cols > 1
    }

    fn matmul_gradient<T: Real>(rule: MatmulGradient<'_, T>) -> dahl::Result<()> {
        let MatmulGradient { a, b, gradient, by_a, by_b, transposed, scope } = rule;
        by_factors(scope, [a, b], gradient, [by_a, by_b], transposed)
    }

    /// The gradients of a product by its factors: `gradient x transposed(b)` and `transposed(a) x gradient`, each transposed
    /// as its factor is.
    fn by_factors<'r, T: Real>(
        scope: &'r dahl::RuleScope<'r>,
        [a, b]: [&Matrix<'_, T>; 2],
        gradient: &Matrix<'_, T>,
        [by_a, by_b]: [Option<&mut Matrix<'r, T>>; 2],
        Transposed { left, right }: Transposed,
    ) -> dahl::Result<()> {
        if let Some(by_a) = by_a {
            let (x, y, transposed) = match left {
                false => (gradient, b, Transposed { left: false, right: !right }),
                true => (b, gradient, Transposed { left: right, right: true }),
            };
            by_factor(scope, x, y, by_a, transposed)?;
        }
        if let Some(by_b) = by_b {
            let (x, y, transposed) = match right {
                false => (a, gradient, Transposed { left: !left, right: false }),
                true => (gradient, a, Transposed { left: true, right: left }),
            };
            by_factor(scope, x, y, by_b, transposed)?;
        }
        Ok(())
    }

    /// A product as a gradient, or as a contribution to it.
    fn by_factor<'r, T: Real>(
        scope: &'r dahl::RuleScope<'r>,
        x: &Matrix<'_, T>,
        y: &Matrix<'_, T>,
        by: &mut Matrix<'r, T>,
        transposed: Transposed,
    ) -> dahl::Result<()> {
        if scope.sum(by) {
            return matmul_add(x, y, by, transposed);
        }
        *by = matmul_init(scope, x, y, transposed)?;
        Ok(())
    }

    /// [`matmul`] on several cores.
    fn matmul_on_cores<T: Real>(
        a: ArrayView2<T>,
        b: ArrayView2<T>,
        out: ArrayViewMut2<T>,
        transposed: Transposed,
    ) {
        product_on(Cores::Pool, orient(a, transposed.left), orient(b, transposed.right), out, false);
    }

    /// [`matmul`] by cuBLAS.
    fn matmul_by_cublas<T: Real>(
        call: &mut CudaCall<'_>,
        a: CudaArray<'_, T, 2>,
        b: CudaArray<'_, T, 2>,
        mut out: CudaArrayMut<'_, T, 2>,
        transposed: Transposed,
    ) -> Result<(), CudaCallError> {
        call.gemm(
            1.0,
            orient_on_device(a, transposed.left),
            orient_on_device(b, transposed.right),
            0.0,
            &mut out,
        )
    }

    /// `out += a x b`, with the factors as in [`matmul`]. Products over parts of the inner dimension, such as the
    /// gradients of the parts of a batch, add up.
    ///
    /// # Shapes
    /// As for [`matmul`].
    #[codelet(
        R, R, REDUX,
        shape(out = [oriented(a.shape(), transposed.left)[0], oriented(b.shape(), transposed.right)[1]]),
        check(oriented(a.shape(), transposed.left)[1] == oriented(b.shape(), transposed.right)[0]),
        flops = 2 * a.len() * out.ncols(),
        parallel = matmul_add_on_cores,
        cuda = crate::kernels::MATMUL_ADD,
        cuda_call = [cublas matmul_add_by_cublas],
        gradient = matmul_add_gradient(a, b),
        reference = crate::reference::matmul::matmul_add,
        error = sum(n = a.len() / out.nrows().max(1) + 1)
    )]
    pub fn matmul_add<T: Real>(
        a: ArrayView2<T>,
        b: ArrayView2<T>,
        out: ArrayViewMut2<T::Compute>,
        transposed: Transposed,
    ) {
        add_product(Cores::One, orient(a, transposed.left), orient(b, transposed.right), out);
    }

    /// [`matmul_add`] on several cores.
    fn matmul_add_on_cores<T: Real>(
        a: ArrayView2<T>,
        b: ArrayView2<T>,
        out: ArrayViewMut2<T::Compute>,
        transposed: Transposed,
    ) {
        add_product(Cores::Pool, orient(a, transposed.left), orient(b, transposed.right), out);
    }

    fn matmul_add_gradient<T: Real>(rule: MatmulAddGradient<'_, T>) -> dahl::Result<()> {
        let MatmulAddGradient { a, b, gradient, by_a, by_b, transposed, scope } = rule;
        by_factors(scope, [a, b], gradient, [by_a, by_b], transposed)
    }

    /// [`matmul_add`] by cuBLAS.
    fn matmul_add_by_cublas<T: Real>(
        call: &mut CudaCall<'_>,
        a: CudaArray<'_, T, 2>,
        b: CudaArray<'_, T, 2>,
        mut out: CudaArrayMut<'_, T::Compute, 2>,
        transposed: Transposed,
    ) -> Result<(), CudaCallError> {
        call.gemm(
            1.0,
            orient_on_device(a, transposed.left),
            orient_on_device(b, transposed.right),
            1.0,
            &mut out,
        )
    }

    /// `out = a x vector`, with `a` transposed first if `is_transposed`.
    ///
    /// # Shapes
    /// `a: [rows, cols]`, or `[cols, rows]` if it is transposed; `vector: [cols]`, `out: [rows]`.
    #[codelet(
        R, R, W,
        shape(out = [oriented(a.shape(), is_transposed)[0]]),
        check(oriented(a.shape(), is_transposed)[1] == vector.len()),
        flops = 2 * a.len(),
        cuda = crate::kernels::MATVEC,
        cuda_call = [cublas matvec_by_cublas],
        gradient = matvec_gradient(a, vector),
        reference = crate::reference::matmul::matvec,
        error = sum(n = vector.len())
    )]
    pub fn matvec<T: Real>(
        a: ArrayView2<T>,
        vector: ArrayView1<T>,
        out: ArrayViewMut1<T>,
        is_transposed: bool,
    ) {
        product(orient(a, is_transposed), vector.insert_axis(Axis(1)), out.insert_axis(Axis(1)), false);
    }

    fn matvec_gradient<T: Real>(rule: MatvecGradient<'_, T>) -> dahl::Result<()> {
        let MatvecGradient { a, vector, gradient, by_a, by_vector, is_transposed, scope } = rule;
        if let Some(by_a) = by_a {
            let [column, row] = if is_transposed { [vector, gradient] } else { [gradient, vector] };
            *by_a = super::outer_init(scope, column, row)?;
        }
        if let Some(by_vector) = by_vector {
            *by_vector = matvec_init(scope, a, gradient, !is_transposed)?;
        }
        Ok(())
    }

    /// [`matvec`] by cuBLAS: as a matrix product, since its matrix-vector products lack half precision.
    fn matvec_by_cublas<T: Real>(
        call: &mut CudaCall<'_>,
        a: CudaArray<'_, T, 2>,
        vector: CudaArray<'_, T, 1>,
        out: CudaArrayMut<'_, T, 1>,
        is_transposed: bool,
    ) -> Result<(), CudaCallError> {
        let a = orient_on_device(a, is_transposed);
        call.gemm(1.0, a, vector.into_column(), 0.0, &mut out.into_column())
    }
}

pub use declared::{
    Matmul, MatmulAdd, Matvec, matmul as matmul_transposed, matmul_add as matmul_add_transposed,
    matmul_add_init as matmul_add_transposed_init, matmul_init as matmul_transposed_init,
    matmul_self as matmul_transposed_self,
};

/// `out = a x b`. Sums are in the compute type.
///
/// # Shapes
/// `a: [rows, inner]`, `b: [inner, cols]`, `out: [rows, cols]`. [`matmul_transposed`] takes transposes of such factors.
///
/// # Errors
/// If the shapes do not agree.
#[track_caller]
pub fn matmul<T: Real>(a: &Matrix<'_, T>, b: &Matrix<'_, T>, out: &mut Matrix<'_, T>) -> dahl::Result<()> {
    declared::matmul(a, b, out, Transposed::NEITHER)
}

/// [`matmul`] into a new array of `scope`.
///
/// # Errors
/// As for [`matmul`], or if memory cannot be allocated.
#[track_caller]
pub fn matmul_init<'m, T: Real>(
    scope: &'m impl Scope<Matmul>,
    a: &Matrix<'_, T>,
    b: &Matrix<'_, T>,
) -> dahl::Result<Matrix<'m, T>> {
    declared::matmul_init(scope, a, b, Transposed::NEITHER)
}

/// `a = a x b`.
///
/// # Errors
/// As for [`matmul`].
#[track_caller]
pub fn matmul_self<T: Real>(a: &mut Matrix<'_, T>, b: &Matrix<'_, T>) -> dahl::Result<()> {
    declared::matmul_self(a, b, Transposed::NEITHER)
}

/// `out += a x b`. Products over parts of the inner dimension, such as the gradients of the parts of a batch, add up.
///
/// # Shapes
/// As for [`matmul`]. [`matmul_add_transposed`] takes transposes of such factors.
///
/// # Errors
/// As for [`matmul`].
#[track_caller]
pub fn matmul_add<T: Real>(
    a: &Matrix<'_, T>,
    b: &Matrix<'_, T>,
    out: &mut Matrix<'_, T>,
) -> dahl::Result<()> {
    declared::matmul_add(a, b, out, Transposed::NEITHER)
}

/// [`matmul_add`] into a new array of `scope`, which starts at zero.
///
/// # Errors
/// As for [`matmul_init`].
#[track_caller]
pub fn matmul_add_init<'m, T: Real>(
    scope: &'m impl Scope<MatmulAdd>,
    a: &Matrix<'_, T>,
    b: &Matrix<'_, T>,
) -> dahl::Result<Matrix<'m, T>> {
    declared::matmul_add_init(scope, a, b, Transposed::NEITHER)
}

/// `out = a x vector`.
///
/// # Shapes
/// `a: [rows, cols]`, `vector: [cols]`, `out: [rows]`.
///
/// # Errors
/// If the shapes do not agree.
#[track_caller]
pub fn matvec<T: Real>(
    a: &Matrix<'_, T>,
    vector: &Vector<'_, T>,
    out: &mut Vector<'_, T>,
) -> dahl::Result<()> {
    declared::matvec(a, vector, out, false)
}

/// [`matvec`] into a new array of `scope`.
///
/// # Errors
/// As for [`matvec`], or if memory cannot be allocated.
#[track_caller]
pub fn matvec_init<'m, T: Real>(
    scope: &'m impl Scope<Matvec>,
    a: &Matrix<'_, T>,
    vector: &Vector<'_, T>,
) -> dahl::Result<Vector<'m, T>> {
    declared::matvec_init(scope, a, vector, false)
}

/// `out = transposed(a) x vector`.
///
/// # Shapes
/// `a: [cols, rows]`, `vector: [cols]`, `out: [rows]`.
///
/// # Errors
/// If the shapes do not agree.
#[track_caller]
pub fn matvec_transposed<T: Real>(
    a: &Matrix<'_, T>,
    vector: &Vector<'_, T>,
    out: &mut Vector<'_, T>,
) -> dahl::Result<()> {
    declared::matvec(a, vector, out, true)
}

/// [`matvec_transposed`] into a new array of `scope`.
///
/// # Errors
/// As for [`matvec_transposed`], or if memory cannot be allocated.
#[track_caller]
pub fn matvec_transposed_init<'m, T: Real>(
    scope: &'m impl Scope<Matvec>,
    a: &Matrix<'_, T>,
    vector: &Vector<'_, T>,
) -> dahl::Result<Vector<'m, T>> {
    declared::matvec_init(scope, a, vector, true)
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
    gradient = outer_gradient(column, row),
    reference = crate::reference::matmul::outer,
    error = rounded
)]
pub fn outer<T: Real>(column: ArrayView1<T>, row: ArrayView1<T>, mut out: ArrayViewMut2<T>) {
    let row = row_major(&row);
    let row = elements(&row);
    for (&factor, mut out) in column.iter().zip(out.rows_mut()) {
        match out.as_slice_mut() {
            Some(out) => out.iter_mut().zip(row).for_each(|(out, &value)| *out = factor * value),
            None => out.iter_mut().zip(row).for_each(|(out, &value)| *out = factor * value),
        }
    }
}

fn outer_gradient<T: Real>(rule: OuterGradient<'_, T>) -> dahl::Result<()> {
    if let Some(by_column) = rule.by_column {
        *by_column = matvec_init(rule.scope, rule.gradient, rule.row)?;
    }
    if let Some(by_row) = rule.by_row {
        *by_row = matvec_transposed_init(rule.scope, rule.gradient, rule.column)?;
    }
    Ok(())
}
