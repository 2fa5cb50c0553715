//! [`product`]: matrix products on strided operands.
//!
//! `f32` and `f64` go to the crate `gemm` (AVX-512, AVX2, NEON, chosen at run time), on one core, since tasks are the
//! parallelism, or on those of the rayon pool that the caller is in. Either way each sum is made in the same order: the
//! crate cuts the inner dimension by its length and the caches alone, and cores share out rows and columns.
//!
//! Types with a compute type of their own, `f16` and `bf16`, are widened block by block and accumulate in it over the
//! whole inner dimension; the crate's own `f16` product rounds its sum to `f16` after each of its blocks. Other types
//! take a plain loop.

use dahl_core::{Element, ElementType, Real};
use ndarray::{ArrayView2, ArrayViewMut2, s};

use super::scratch::with_scratch;

/// Extents of the blocks in which types are widened: rows of `a`, columns of `b`, and the dimension between.
const BLOCK_ROWS: usize = 256;
const BLOCK_COLS: usize = 512;
const BLOCK_INNER: usize = 512;

/// On how many cores a product runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Cores {
    /// One.
    One,
    /// Those of the rayon pool, if the product is large enough.
    Pool,
}

/// Whether `T` is one of the types that the crate `gemm` multiplies with the accuracy promised here.
fn has_gemm<T: Real>() -> bool {
    let element = ElementType::of::<T>();
    element.is::<f32>() || element.is::<f64>()
}

/// Whether `T` computes in itself, so that no conversion is needed.
pub(crate) fn computes_in_itself<T: Real>() -> bool {
    ElementType::of::<T>() == ElementType::of::<T::Compute>()
}

/// `out = a x b`, or `out += a x b` if `accumulate` holds; sums are in the compute type, rounded once.
///
/// # Shapes
/// `a: [rows, inner]`, `b: [inner, cols]`, `out: [rows, cols]`; any strides.
///
/// # Panics
/// If the shapes do not agree.
pub(crate) fn product<T: Real>(
    a: ArrayView2<'_, T>,
    b: ArrayView2<'_, T>,
    out: ArrayViewMut2<'_, T>,
    accumulate: bool,
) {
    product_on(Cores::One, a, b, out, accumulate);
}

/// [`product`] on several cores, with the same bits.
pub(crate) fn product_on<T: Real>(
    cores: Cores,
    a: ArrayView2<'_, T>,
    b: ArrayView2<'_, T>,
    mut out: ArrayViewMut2<'_, T>,
    accumulate: bool,
) {
    let (rows, inner) = a.dim();
    let cols = b.ncols();
    assert_eq!(inner, b.nrows(), "product: a has {inner} columns but b has {} rows", b.nrows());
    assert_eq!(out.dim(), (rows, cols), "product: out must have the rows of a and the columns of b");
    if rows == 0 || cols == 0 {
    } else if !computes_in_itself::<T>() {
        widened_product(a, b, out, accumulate);
    } else if has_gemm::<T>() {
        let beta = if accumulate { T::ONE } else { T::ZERO };
        gemm_product(cores, T::ONE, a, b, beta, out);
    } else {
        if !accumulate {
            out.fill(T::ZERO);
        }
        plain_product(a, b, out);
    }
}

/// [`product`] by the crate `gemm`.
#[allow(unsafe_code, reason = "the crate `gemm` takes raw pointers")]
fn gemm_product<T: Real>(
    cores: Cores,
    alpha: T,
    a: ArrayView2<'_, T>,
    b: ArrayView2<'_, T>,
    beta: T,
    mut out: ArrayViewMut2<'_, T>,
) {
    assert!(has_gemm::<T>() && a.ncols() == b.nrows() && out.dim() == (a.nrows(), b.ncols()));
    let (rows, inner, cols) = (a.nrows(), a.ncols(), b.ncols());
    let (a_strides, b_strides) = (a.strides(), b.strides());
    let (row_stride, col_stride) = (out.strides()[0], out.strides()[1]);
    let parallelism = match cores {
        Cores::One => gemm::Parallelism::None,
        Cores::Pool => gemm::Parallelism::Rayon(0),
    };
    // SAFETY:
    // - `a`, `b` and `out` are views, so each pointer with its strides is valid for every index below its extents, and
    //   the extents passed are theirs by the assertion: `a: [rows, inner]`, `b: [inner, cols]`, `out: [rows, cols]`.
    // - `out` is a mutable view: nothing else reads or writes its elements meanwhile, `a` and `b` included, and no two
    //   of its indices are the same element.
    // - `T` is `f32` or `f64` by the assertion, which the crate supports.
    unsafe {
        gemm::gemm(
            rows,
            cols,
            inner,
            out.as_mut_ptr(),
            col_stride,
            row_stride,
            beta != T::ZERO,
            a.as_ptr(),
            a_strides[1],
            a_strides[0],
            b.as_ptr(),
            b_strides[1],
            b_strides[0],
            beta,
            alpha,
            false,
            false,
            false,
            parallelism,
        );
    }
}

/// `out = alpha * a x b + beta * out`, whose element type is any; with a `beta` of 0 nothing of `out` is read.
///
/// # Shapes
/// As for [`product`].
pub(crate) fn scaled_product<T: Real>(
    alpha: T,
    a: ArrayView2<'_, T>,
    b: ArrayView2<'_, T>,
    beta: T,
    mut out: ArrayViewMut2<'_, T>,
) {
    let ((rows, inner), cols) = (a.dim(), b.ncols());
    assert_eq!(inner, b.nrows(), "gemm: a has {inner} columns but b has {} rows", b.nrows());
    assert_eq!(out.dim(), (rows, cols), "gemm: out must have the rows of a and the columns of b");
    if has_gemm::<T>() && rows > 0 && cols > 0 {
        return gemm_product(Cores::One, alpha, a, b, beta, out);
    }
    let (alpha, beta) = (alpha.widen(), beta.widen());
    for (a, mut out) in a.rows().into_iter().zip(out.rows_mut()) {
        for (b, out) in b.columns().into_iter().zip(&mut out) {
            let sum: T::Compute = a.iter().zip(b).map(|(a, b)| a.widen() * b.widen()).sum();
            let old = if beta == T::Compute::ZERO { beta } else { beta * out.widen() };
            *out = T::narrow(alpha * sum + old);
        }
    }
}

/// `out += a x b` for a type of the user's: one addition after the other, along rows.
fn plain_product<T: Real>(a: ArrayView2<'_, T>, b: ArrayView2<'_, T>, mut out: ArrayViewMut2<'_, T>) {
    for (a_row, mut out_row) in a.rows().into_iter().zip(out.rows_mut()) {
        for (&factor, b_row) in a_row.iter().zip(b.rows()) {
            out_row.zip_mut_with(&b_row, |sum, &value| *sum += factor * value);
        }
    }
}

/// `out += a x b` with `out` in the compute type, never rounded to `T`.
///
/// # Shapes
/// As for [`product`].
pub(crate) fn add_product<T: Real>(
    a: ArrayView2<'_, T>,
    b: ArrayView2<'_, T>,
    mut out: ArrayViewMut2<'_, T::Compute>,
) {
    let (rows, inner, cols) = (a.nrows(), a.ncols(), b.ncols());
    assert_eq!(inner, b.nrows(), "add_product: a has {inner} columns but b has {} rows", b.nrows());
    assert_eq!(out.dim(), (rows, cols), "add_product: out must have the rows of a and the columns of b");
    // Where `T` is its own compute type, widening would only copy: the same view then, by its own type.
    if let Some((a, b)) = as_compute(&a).zip(as_compute(&b)) {
        return product(a, b, out, true);
    }
    let lengths =
        [BLOCK_ROWS.min(rows) * BLOCK_INNER.min(inner), BLOCK_INNER.min(inner) * BLOCK_COLS.min(cols)];
    with_scratch(lengths, |[wide_a, wide_b]: [&mut [T::Compute]; 2]| {
        for row in (0..rows).step_by(BLOCK_ROWS) {
            let rows = row..rows.min(row + BLOCK_ROWS);
            for col in (0..cols).step_by(BLOCK_COLS) {
                let cols = col..cols.min(col + BLOCK_COLS);
                for depth in (0..inner).step_by(BLOCK_INNER) {
                    let depths = depth..inner.min(depth + BLOCK_INNER);
                    product(
                        widen(a.slice(s![rows.clone(), depths.clone()]), wide_a),
                        widen(b.slice(s![depths, cols.clone()]), wide_b),
                        out.slice_mut(s![rows.clone(), cols.clone()]),
                        true,
                    );
                }
            }
        }
    });
}

/// `matrix` itself, if `T` is its own compute type.
#[allow(unsafe_code, reason = "the type system does not know that two types are one")]
fn as_compute<'a, T: Real>(matrix: &ArrayView2<'a, T>) -> Option<ArrayView2<'a, T::Compute>> {
    computes_in_itself::<T>().then(|| {
        // SAFETY: `T` and `T::Compute` have one `TypeId`, so both sides are the same type, which is `Copy` for shared
        // views.
        unsafe { std::mem::transmute_copy::<ArrayView2<'a, T>, ArrayView2<'a, T::Compute>>(matrix) }
    })
}

/// [`product`] for a type that is widened to compute: tile by tile of `out`, so that each element is rounded once.
fn widened_product<T: Real>(
    a: ArrayView2<'_, T>,
    b: ArrayView2<'_, T>,
    mut out: ArrayViewMut2<'_, T>,
    accumulate: bool,
) {
    let (rows, cols) = out.dim();
    with_scratch([BLOCK_ROWS.min(rows) * BLOCK_COLS.min(cols)], |[sums]: [&mut [T::Compute]; 1]| {
        for row in (0..rows).step_by(BLOCK_ROWS) {
            let rows = row..rows.min(row + BLOCK_ROWS);
            for col in (0..cols).step_by(BLOCK_COLS) {
                let cols = col..cols.min(col + BLOCK_COLS);
                let mut tile = out.slice_mut(s![rows.clone(), cols.clone()]);
                let sums = &mut sums[..tile.len()];
                sums.fill(T::Compute::ZERO);
                if accumulate {
                    sums.iter_mut().zip(&tile).for_each(|(sum, value)| *sum = value.widen());
                }
                let shape = [rows.len(), cols.len()];
                add_product(a.slice(s![rows.clone(), ..]), b.slice(s![.., cols]), matrix_mut(sums, shape));
                narrow(sums, tile.view_mut());
            }
        }
    });
}

/// `values`, row by row, as a matrix.
pub(crate) fn matrix<T>(values: &[T], shape: [usize; 2]) -> ArrayView2<'_, T> {
    ArrayView2::from_shape(shape, values).expect("a slice has as many elements as its matrix")
}

/// `values`, row by row, as a matrix.
pub(crate) fn matrix_mut<T>(values: &mut [T], shape: [usize; 2]) -> ArrayViewMut2<'_, T> {
    ArrayViewMut2::from_shape(shape, values).expect("a slice has as many elements as its matrix")
}

/// Widens `from` into the beginning of `to`, keeping its order in memory, and returns it as a matrix.
fn widen<'a, T: Real>(from: ArrayView2<'_, T>, to: &'a mut [T::Compute]) -> ArrayView2<'a, T::Compute> {
    let transposed = from.strides()[0].unsigned_abs() < from.strides()[1].unsigned_abs();
    let from = if transposed { from.reversed_axes() } else { from };
    let (rows, cols) = from.dim();
    let to = &mut to[..rows * cols];
    for (from, to) in from.rows().into_iter().zip(to.chunks_exact_mut(cols.max(1))) {
        match from.to_slice() {
            Some(from) => T::widen_slice(from, to),
            None => to.iter_mut().zip(from).for_each(|(to, from)| *to = from.widen()),
        }
    }
    let wide = matrix(to, [rows, cols]);
    if transposed { wide.reversed_axes() } else { wide }
}

/// Narrows `from`, row by row, into `to`.
fn narrow<T: Real>(from: &[T::Compute], mut to: ArrayViewMut2<'_, T>) {
    let cols = to.ncols().max(1);
    for (from, mut to) in from.chunks_exact(cols).zip(to.rows_mut()) {
        match to.as_slice_mut() {
            Some(to) => T::narrow_slice(from, to),
            None => to.iter_mut().zip(from).for_each(|(to, from)| *to = T::narrow(*from)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Small integers, whose products and sums are exact in whatever order.
    fn integers(shape: [usize; 2], seed: usize) -> ndarray::Array2<f64> {
        ndarray::Array2::from_shape_fn(shape, |(i, j)| ((i * 7 + j * 5 + seed) % 11) as f64 - 5.0)
    }

    #[test]
    fn the_plain_product_agrees_with_the_crate() {
        let (a, b) = (integers([7, 13], 1), integers([13, 5], 2));
        let (mut fast, mut plain) = (integers([7, 5], 3), integers([7, 5], 3));
        product(a.view(), b.view(), fast.view_mut(), true);
        plain_product(a.view(), b.view(), plain.view_mut());
        assert_eq!(fast, plain);
    }

    #[test]
    fn several_cores_give_the_same_bits() {
        let fractions = |shape: [usize; 2], seed: usize| {
            integers(shape, seed).mapv_into(|value| (value * 0.1).exp()) - integers(shape, seed + 3) * 0.37
        };
        let pool = dahl_core::rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("three threads");
        for [rows, inner, cols] in
            [[500, 784, 128], [65, 3000, 64], [300, 1031, 257], [1, 5000, 900], [9, 40, 3]]
        {
            let (a, b) = (fractions([rows, inner], 1), fractions([cols, inner], 2).reversed_axes());
            let mut alone = fractions([rows, cols], 3);
            let mut together = alone.clone();
            product(a.view(), b.view(), alone.view_mut(), true);
            pool.install(|| product_on(Cores::Pool, a.view(), b.view(), together.view_mut(), true));
            assert_eq!(alone.mapv(f64::to_bits), together.mapv(f64::to_bits), "{rows} {inner} {cols}");
        }
    }

    #[test]
    fn strides_may_be_any() {
        let (a, b) = (integers([14, 9], 1), integers([9, 6], 2));
        let (every_second, backwards) = (a.slice(s![..;2, ..]), b.slice(s![.., ..;-1]));
        let mut expected = ndarray::Array2::zeros([7, 6]);
        product(every_second.to_owned().view(), backwards.to_owned().view(), expected.view_mut(), false);
        let mut out = ndarray::Array2::from_elem([12, 7], f64::NAN);
        product(
            every_second,
            backwards,
            out.slice_mut(s![..;-2, ..;-1]).reversed_axes().slice_mut(s![..7, ..6]),
            false,
        );
        for ((i, j), &value) in expected.indexed_iter() {
            assert_eq!(out[[11 - 2 * j, 6 - i]], value);
        }
    }

    #[test]
    #[should_panic(expected = "a has 3 columns but b has 2 rows")]
    fn inner_dimensions_must_agree() {
        product(
            integers([2, 3], 1).view(),
            integers([2, 4], 1).view(),
            integers([2, 4], 1).view_mut(),
            false,
        );
    }
}
