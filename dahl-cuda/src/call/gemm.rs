//! [`Gemm`]: a matrix product in the form that BLAS expects.
//!
//! BLAS expects matrices with contiguous *columns*, whose distance is the *leading dimension*. To BLAS, a matrix with
//! contiguous rows, as arrays of dahl have, is its own transpose. So if the rows of `out` are contiguous, BLAS computes
//! the transpose of the product, `out^T = b^T x a^T`, with the factors in the other order.

use dahl_element::element::{Element, Real};

use super::precision::Precision;
use super::refusal::CudaCallError;
use super::view::CudaArray;

/// `c = alpha * op(a) x op(b) + beta * c`, as cuBLAS is told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gemm {
    /// Of `c`, which is `[rows, cols]` as BLAS sees it.
    pub rows: i64,
    /// Of `c`.
    pub cols: i64,
    /// What `a` has columns and `b` has rows.
    pub inner: i64,
    /// The left factor.
    pub a: Factor,
    /// The right factor.
    pub b: Factor,
    /// The result.
    pub c: Factor,
    /// By what the product is multiplied.
    pub alpha: f64,
    /// By what the elements of `c` are multiplied before the product is added; 0: they are of no meaning.
    pub beta: f64,
    /// In what sums are, and the type of `alpha` and `beta`.
    pub compute: Precision,
    /// The further products of the same form, if this is the first of a batch.
    pub batch: Option<Batch>,
}

/// How many products there are, and the elements from one matrix to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Batch {
    /// The products.
    pub count: i64,
    /// Of the left factors.
    pub a: i64,
    /// Of the right factors.
    pub b: i64,
    /// Of the results.
    pub c: i64,
}

/// A matrix in memory, in columns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Factor {
    /// On the device.
    pub address: u64,
    /// Of its elements.
    pub element: Precision,
    /// Elements from one column to the next.
    pub leading: i64,
    /// Whether it is the transpose of what is meant.
    pub is_transposed: bool,
}

impl Gemm {
    /// `out = alpha * a x b + beta * out`.
    ///
    /// # Errors
    /// `Unsupported`, if BLAS has no such product.
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn new<T: Real, O: Element>(
        alpha: f64,
        a: CudaArray<'_, T, 2>,
        b: CudaArray<'_, T, 2>,
        beta: f64,
        out: CudaArray<'_, O, 2>,
    ) -> Result<Self, CudaCallError> {
        Ok(Self::with_order(alpha, a, b, beta, out)?.0)
    }

    /// `out[i] = alpha * a[i] x b[i] + beta * out[i]` for each `i` of a batch.
    ///
    /// # Errors
    /// `Unsupported`, if BLAS has no such products.
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn of_batch<T: Real, O: Element>(
        alpha: f64,
        a: CudaArray<'_, T, 3>,
        b: CudaArray<'_, T, 3>,
        beta: f64,
        out: CudaArray<'_, O, 3>,
    ) -> Result<Self, CudaCallError> {
        let count = out.extents()[0];
        assert!(
            [a.extents()[0], b.extents()[0]] == [count; 2],
            "batches of {:?} and {:?} do not make one of {:?}",
            a.extents(),
            b.extents(),
            out.extents()
        );
        if count == 0 {
            return unsupported("a product of nothing");
        }
        let (first, is_swapped) =
            Self::with_order(alpha, a.first_matrix(), b.first_matrix(), beta, out.first_matrix())?;
        let [mut left, mut right, result] = [a.strides()[0], b.strides()[0], out.strides()[0]];
        let elements = (first.rows - 1) + (first.cols - 1) * first.c.leading + 1;
        if left < 0 || right < 0 || (result < elements as isize && count > 1) {
            return unsupported(&format!("a batch with strides of {:?}", [left, right, result]));
        }
        if is_swapped {
            (left, right) = (right, left);
        }
        let batch = Batch { count: count as i64, a: left as i64, b: right as i64, c: result as i64 };
        Ok(Self { batch: Some(batch), ..first })
    }

    /// As [`new`](Self::new), and whether the transpose of the product is computed, so that the factors are exchanged.
    fn with_order<T: Real, O: Element>(
        alpha: f64,
        a: CudaArray<'_, T, 2>,
        b: CudaArray<'_, T, 2>,
        beta: f64,
        out: CudaArray<'_, O, 2>,
    ) -> Result<(Self, bool), CudaCallError> {
        let ([rows, inner], [depth, cols]) = (a.extents(), b.extents());
        assert!(
            inner == depth && out.extents() == [rows, cols],
            "a product of {:?} and {:?} is not of shape {:?}",
            a.extents(),
            b.extents(),
            out.extents()
        );
        // Rows that are contiguous are columns of the transpose, which then is computed. Of a vector, the longer axis counts.
        let swapped = || leading(out.reversed_axes()).map(|leading| (leading, true));
        let straight = || leading(out).map(|leading| (leading, false));
        let found = if cols > 1 { swapped().or_else(straight) } else { straight().or_else(swapped) };
        let Some((leading, is_swapped)) = found else { return unsupported_strides(out) };
        let product = if is_swapped {
            let out = out.reversed_axes();
            Self::of_columns(alpha, b.reversed_axes(), a.reversed_axes(), beta, out, leading)
        } else {
            Self::of_columns(alpha, a, b, beta, out, leading)
        };
        Ok((product?, is_swapped))
    }

    /// As [`new`](Self::new), where the columns of `out` are contiguous, and so far apart.
    fn of_columns<T: Real, O: Element>(
        alpha: f64,
        a: CudaArray<'_, T, 2>,
        b: CudaArray<'_, T, 2>,
        beta: f64,
        out: CudaArray<'_, O, 2>,
        leading: i64,
    ) -> Result<Self, CudaCallError> {
        let [rows, cols, inner] =
            [out.extents()[0], out.extents()[1], a.extents()[1]].map(|extent| extent as i64);
        if rows * cols * inner == 0 {
            return unsupported("a product of nothing");
        }
        let compute = Precision::of::<T::Compute>();
        let element =
            Precision::of::<O>().filter(|&out| Some(out) == Precision::of::<T>() || Some(out) == compute);
        let (Some(compute), Some(element)) = (compute, element) else {
            return unsupported(&format!("a product of {} in {}", T::NAME, O::NAME));
        };
        let (a, b) = (Factor::new(a)?, Factor::new(b)?);
        let c = Factor { address: out.address(), element, leading, is_transposed: false };
        Ok(Self { rows, cols, inner, a, b, c, alpha, beta, compute, batch: None })
    }
}

impl Factor {
    /// How BLAS sees a matrix.
    fn new<T: Element>(matrix: CudaArray<'_, T, 2>) -> Result<Self, CudaCallError> {
        let by_rows = || leading(matrix.reversed_axes()).map(|leading| (leading, true));
        let Some((leading, is_transposed)) = leading(matrix).map(|leading| (leading, false)).or_else(by_rows)
        else {
            return unsupported_strides(matrix);
        };
        let Some(element) = Precision::of::<T>() else {
            return unsupported(&format!("elements of {}", T::NAME));
        };
        Ok(Self { address: matrix.address(), element, leading, is_transposed })
    }
}

/// The leading dimension of a matrix whose columns are contiguous; nothing of others, and where columns overlap.
fn leading<T: Element>(matrix: CudaArray<'_, T, 2>) -> Option<i64> {
    let ([rows, cols], [down, along]) = (matrix.extents(), matrix.strides());
    // An axis of one element has a stride, but nobody goes along it.
    if down != 1 && rows > 1 {
        return None;
    }
    if cols > 1 { Some(along as i64).filter(|&leading| leading >= rows as i64) } else { Some(rows as i64) }
}

fn unsupported_strides<R, T: Element>(matrix: CudaArray<'_, T, 2>) -> Result<R, CudaCallError> {
    unsupported(&format!("a matrix with strides of {:?}", matrix.strides()))
}

fn unsupported<R>(what: &str) -> Result<R, CudaCallError> {
    Err(CudaCallError::Unsupported(format!("cuBLAS does not have this: {what}")))
}

#[cfg(test)]
mod tests {
    use super::super::view::at;
    use super::{Batch, CudaArray, CudaCallError, Gemm, Precision};

    type Matrix = CudaArray<'static, f32, 2>;

    fn by_rows(address: u64, [rows, cols]: [usize; 2]) -> Matrix {
        at(address, [rows, cols], [cols as isize, 1])
    }

    fn gemm(a: Matrix, b: Matrix, out: Matrix) -> Result<Gemm, CudaCallError> {
        Gemm::new(1.0, a, b, 0.0, out)
    }

    #[test]
    fn of_rows_the_transpose_is_computed() {
        let found = gemm(by_rows(1, [2, 3]), by_rows(2, [3, 4]), by_rows(3, [2, 4])).expect("it can be said");
        assert_eq!([found.rows, found.cols, found.inner], [4, 2, 3]);
        let factors = [found.a, found.b, found.c].map(|of| (of.address, of.leading, of.is_transposed));
        assert_eq!(factors, [(2, 4, false), (1, 3, false), (3, 4, false)]);
    }

    #[test]
    fn a_transposed_factor_is_transposed_by_blas() {
        let (a, b) = (by_rows(1, [3, 2]).reversed_axes(), by_rows(2, [4, 3]).reversed_axes());
        let found = gemm(a, b, by_rows(3, [2, 4])).expect("it can be said");
        let factors = [found.a, found.b, found.c].map(|of| (of.address, of.leading, of.is_transposed));
        assert_eq!(factors, [(2, 3, true), (1, 2, true), (3, 4, false)]);
    }

    #[test]
    fn parts_of_larger_matrices_have_larger_leading_dimensions() {
        let a = at(1, [2, 3], [10, 1]);
        let out = at(3, [2, 4], [1, 7]);
        let found = gemm(a, by_rows(2, [3, 4]), out).expect("it can be said");
        let factors = [found.a, found.b, found.c].map(|of| (of.address, of.leading, of.is_transposed));
        assert_eq!(factors, [(1, 10, true), (2, 4, true), (3, 7, false)]);
        assert_eq!([found.rows, found.cols, found.inner], [2, 4, 3]);
    }

    #[test]
    fn a_vector_is_a_matrix_of_one_column() {
        let vector = at::<f32, 1>(2, [3], [1]).into_column();
        let out = at::<f32, 1>(3, [2], [1]).into_column();
        let found = gemm(by_rows(1, [2, 3]), vector, out).expect("it can be said");
        assert_eq!([found.rows, found.cols, found.inner], [2, 1, 3]);
        assert_eq!((found.a.leading, found.a.is_transposed), (3, true));
        assert_eq!((found.b.leading, found.b.is_transposed, found.c.leading), (3, false, 2));
    }

    #[test]
    fn a_batch_has_the_strides_of_its_matrices() {
        let (a, b) = (at::<f32, 3>(1, [5, 2, 3], [6, 3, 1]), at::<f32, 3>(2, [5, 4, 3], [12, 3, 1]));
        let (out, b) = (at::<f32, 3>(3, [5, 2, 4], [10, 4, 1]), b.transposed_matrices());
        let found = Gemm::of_batch(1.0, a, b, 0.0, out).expect("it can be said");
        // The transposes are computed, of the factors in the other order.
        assert_eq!((found.a.address, found.a.is_transposed, found.b.address), (2, true, 1));
        assert_eq!(found.batch, Some(Batch { count: 5, a: 12, b: 6, c: 10 }));
        let overlapping = at::<f32, 3>(3, [5, 2, 4], [7, 4, 1]);
        assert!(Gemm::of_batch(1.0, a, b, 0.0, overlapping).is_err());
    }

    #[test]
    fn what_blas_cannot_say_is_refused() {
        let (b, out) = (by_rows(2, [3, 4]), by_rows(3, [2, 4]));
        for strides in [[0, 1], [6, 2], [-3, 1], [2, 1]] {
            let refused = gemm(at(1, [2, 3], strides), b, out).expect_err("there is no such matrix in BLAS");
            assert!(matches!(refused, CudaCallError::Unsupported(_)), "{refused}");
        }
        assert!(gemm(by_rows(1, [2, 0]), by_rows(2, [0, 4]), out).is_err(), "nothing to add up");
    }

    #[test]
    fn sums_are_in_the_compute_type() {
        let a = at::<half::bf16, 2>(1, [2, 2], [2, 1]);
        let (same, wide) = (at::<half::bf16, 2>(2, [2, 2], [2, 1]), by_rows(2, [2, 2]));
        assert_eq!(Gemm::new(1.0, a, a, 0.0, same).expect("it can be said").compute, Precision::F32);
        let found = Gemm::new(1.0, a, a, 0.0, wide).expect("it can be said");
        assert_eq!((found.a.element, found.c.element), (Precision::Bf16, Precision::F32));
        let double = at::<f64, 2>(2, [2, 2], [2, 1]);
        assert!(Gemm::new(1.0, a, a, 0.0, double).is_err());
    }
}
