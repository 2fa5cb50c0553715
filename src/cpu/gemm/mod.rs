//! [`product`]: matrix products on strided operands.
//!
//! Vectors multiply `f32` and `f64` ([`vectors`]: AVX-512, AVX2, SSE or NEON, found at run time), on one core, since
//! tasks are the parallelism, or on the cores of the caller's rayon pool:
//!
//! * [`blocked`]: tiles of the output in registers ([`tile`]), of factors that are packed ([`pack`]) where that pays,
//! * [`dot`]: for few rows or columns, if both factors are contiguous along the depth; for a few more rows, the
//!   transpose of the product, blocked.
//!
//! The shape and the strides of the whole product determine the order of each sum. The number of cores does not: cores
//! share rows and columns. (In bf16 it also matters whether factors, and sums that are added to, have very small or
//! very large elements, see [`bf16_dot`].)
//!
//! Types with a compute type of their own, `f16` and `bf16`, are widened block by block, or in registers if there are few
//! rows or columns (`few_rows/`), and accumulate in it over the whole inner dimension. Where the machine multiplies
//! pairs of `bf16`, these stay as they are (`bf16.rs`, and `tiles.rs` where it multiplies whole tiles of them). Those two, and
//! products of a few rows, use one core. Other types take a plain loop.

use dahl_core::{Element, ElementType, Real, rayon};
use ndarray::{ArrayView2, ArrayViewMut2, Axis, s};

#[cfg(target_arch = "x86_64")]
use super::bf16_dot;
use super::compute::computes_in_itself;
use super::scratch::with_scratch;

#[cfg(target_arch = "x86_64")]
mod bf16;
mod blocked;
mod dot;
#[cfg(target_arch = "x86_64")]
mod few_rows;
mod pack;
mod tile;
#[cfg(target_arch = "x86_64")]
mod tiles;
mod vectors;

use tile::Scale;
#[cfg(target_arch = "x86_64")]
use vectors::same_type_mut;
use vectors::{product_in_vectors, same_type};

/// Extents of the blocks in which factors are widened: rows of `a`, columns of `b`, and the depth.
const BLOCK_ROWS: usize = 512;
const BLOCK_COLS: usize = 512;
const BLOCK_INNER: usize = 512;
/// Extents of the blocks of the output whose sums are buffered until they are rounded: each factor is packed once for
/// each block.
const SUMS_ROWS: usize = 1024;
const SUMS_COLS: usize = 1024;

/// On how many cores a kernel runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Cores {
    /// On the calling one.
    One,
    /// On those of the rayon pool, where there is enough to share.
    Pool,
}

/// A product of two matrices of vectors ([`has_vectors`]), whose rows are contiguous and which have several columns, is blocked. From
/// so many rows on, the depth of its blocks does not depend on their number, and nothing else that orders a sum does.
pub(crate) const LEAST_ROWS: usize = tile::ROWS;

/// Whether `T` has vectors, so that [`product_in_vectors`] takes it.
pub(crate) fn has_vectors<T: Real>() -> bool {
    let element = ElementType::of::<T>();
    element.is::<f32>() || element.is::<f64>()
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

/// [`product`] on several cores, with bitwise the same result.
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
        widened_product(cores, a, b, out, accumulate);
    } else if has_vectors::<T>() {
        let beta = if accumulate { T::ONE } else { T::ZERO };
        product_in_vectors(cores, a, b, out, Scale { alpha: T::ONE, beta });
    } else {
        if !accumulate {
            out.fill(T::ZERO);
        }
        plain_product(a, b, out);
    }
}

/// `out = alpha * a x b + beta * out`, for any element type; with a `beta` of 0, `out` is not read.
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
    if has_vectors::<T>() && rows > 0 && cols > 0 {
        return product_in_vectors(Cores::One, a, b, out, Scale { alpha, beta });
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

/// `out += a x b` for an element type of the user's: one addition after the other, along rows.
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
    cores: Cores,
    a: ArrayView2<'_, T>,
    b: ArrayView2<'_, T>,
    out: ArrayViewMut2<'_, T::Compute>,
) {
    let (rows, inner, cols) = (a.nrows(), a.ncols(), b.ncols());
    assert_eq!(inner, b.nrows(), "add_product: a has {inner} columns but b has {} rows", b.nrows());
    assert_eq!(out.dim(), (rows, cols), "add_product: out must have the rows of a and the columns of b");
    // Where `T` is its own compute type, widening would only copy, so the view is used with its own type.
    if computes_in_itself::<T>() {
        return product_on(cores, same_type(a), same_type(b), out, true);
    }
    #[cfg(target_arch = "x86_64")]
    if ElementType::of::<T>().is::<half::bf16>() && bf16_dot::is_supported() && out.strides()[1] == 1 {
        let (a, b) = (same_type(a), same_type(b));
        if tiles::are_worthwhile(rows, inner, cols) {
            return tiles::add_product(a, b, same_type_mut(out), |a, b, out| {
                add_widened_product(cores, a, b, out);
            });
        }
        if bf16_dot::is_fast() && bf16::is_exact(a) && bf16::is_exact(b) {
            return bf16::add_product(a, b, same_type_mut(out));
        }
    }
    add_widened_product(cores, a, b, out);
}

/// [`add_product`] of elements that are widened: in registers for a few rows, else block by block.
fn add_widened_product<T: Real>(
    cores: Cores,
    a: ArrayView2<'_, T>,
    b: ArrayView2<'_, T>,
    out: ArrayViewMut2<'_, T::Compute>,
) {
    #[cfg(target_arch = "x86_64")]
    if few_rows::fits(a, b) {
        return few_rows::add_product(a, b, out);
    }
    let inner = a.ncols();
    for_each_block(cores, out, [BLOCK_ROWS, BLOCK_COLS], [0, 0], &|[row, col], mut out| {
        let (rows, cols) = (row..row + out.nrows(), col..col + out.ncols());
        let depth = BLOCK_INNER.min(inner);
        with_scratch([rows.len() * depth, depth * cols.len()], |[wide_a, wide_b]: [&mut [T::Compute]; 2]| {
            for depth in (0..inner).step_by(BLOCK_INNER) {
                let depths = depth..inner.min(depth + BLOCK_INNER);
                product(
                    widen(a.slice(s![rows.clone(), depths.clone()]), wide_a),
                    widen(b.slice(s![depths, cols.clone()]), wide_b),
                    out.view_mut(),
                    true,
                );
            }
        });
    });
}

/// Calls `f` with each block of `out` of at most this shape, row by row, and with the indices of its first element. The cores of a
/// pool share the blocks.
fn for_each_block<T: Send>(
    cores: Cores,
    out: ArrayViewMut2<'_, T>,
    shape: [usize; 2],
    at: [usize; 2],
    f: &(impl Fn([usize; 2], ArrayViewMut2<'_, T>) + Sync),
) {
    let extents = [out.nrows(), out.ncols()];
    let Some(axis) = [0, 1].into_iter().find(|&axis| extents[axis] > shape[axis]) else {
        return f(at, out);
    };
    let middle = extents[axis].div_ceil(shape[axis]) / 2 * shape[axis];
    let (first, second) = out.split_at(Axis(axis), middle);
    let mut beyond = at;
    beyond[axis] += middle;
    let first = || for_each_block(cores, first, shape, at, f);
    let second = || for_each_block(cores, second, shape, beyond, f);
    match cores {
        Cores::One => {
            first();
            second();
        }
        Cores::Pool => {
            rayon::join(first, second);
        }
    }
}

/// [`product`] for a type that is widened to compute: block by block of `out`, so that each element is rounded once.
fn widened_product<T: Real>(
    cores: Cores,
    a: ArrayView2<'_, T>,
    b: ArrayView2<'_, T>,
    #[cfg_attr(
        not(target_arch = "x86_64"),
        expect(unused_mut, reason = "only vectors of pairs write it here")
    )]
    mut out: ArrayViewMut2<'_, T>,
    accumulate: bool,
) {
    #[cfg(target_arch = "x86_64")]
    if !accumulate && product_by_bf16_dot(a, b, out.view_mut()) {
        return;
    }
    #[cfg(target_arch = "x86_64")]
    let is_whole = few_rows::fits(a, b);
    #[cfg(not(target_arch = "x86_64"))]
    let is_whole = false;
    // Those of a few rows are buffered whole: the large factor is read in long streams.
    let shape = if is_whole { [usize::MAX; 2] } else { [SUMS_ROWS, SUMS_COLS] };
    // One after the other: each has many bytes of sums, and a thread that waits for a part of one could begin another.
    for_each_block(Cores::One, out, shape, [0, 0], &|[row, col], mut block| {
        let (rows, cols) = (row..row + block.nrows(), col..col + block.ncols());
        with_scratch([block.len()], |[sums]: [&mut [T::Compute]; 1]| {
            sums.fill(T::Compute::ZERO);
            if accumulate {
                sums.iter_mut().zip(&block).for_each(|(sum, value)| *sum = value.widen());
            }
            let shape = [rows.len(), cols.len()];
            let (a, b) = (a.slice(s![rows, ..]), b.slice(s![.., cols]));
            add_product(cores, a, b, matrix_mut(sums, shape));
            narrow(sums, block.view_mut());
        });
    });
}

/// `out = a x b` by vectors of pairs, if [`add_product`] would use them for the whole product; otherwise returns false
/// and writes nothing.
#[cfg(target_arch = "x86_64")]
fn product_by_bf16_dot<T: Real>(
    a: ArrayView2<'_, T>,
    b: ArrayView2<'_, T>,
    out: ArrayViewMut2<'_, T>,
) -> bool {
    let are_pairs =
        ElementType::of::<T>().is::<half::bf16>() && bf16_dot::is_supported() && bf16_dot::is_fast();
    if !are_pairs || out.strides()[1] != 1 || tiles::are_worthwhile(a.nrows(), a.ncols(), b.ncols()) {
        return false;
    }
    let (a, b) = (same_type(a), same_type(b));
    let are_exact = bf16::is_exact(a) && bf16::is_exact(b);
    if are_exact {
        bf16::product(a, b, same_type_mut(out));
    }
    are_exact
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
mod tests;
