//! [`product_in_vectors`]: products of types that have vectors, by the method that fits the shape, on one core or several.

use std::any::TypeId;

use dahl_core::{Real, rayon};
use ndarray::{ArrayView2, ArrayViewMut2, Axis};

use super::blocked::{Blocked, block_depth};
use super::dot::Dot;
use super::tile::Scale;
use super::{Cores, matrix_mut};
use crate::cpu::lanes::{Lanes, in_vectors};
use crate::cpu::scratch::with_scratch;

/// Products of fewer multiplications stay on one core: about 20 us.
const SHARED: usize = 1 << 21;

/// `out = alpha * a x b + beta * out`, for `f32` and `f64`.
pub(super) fn product_in_vectors<T: Real>(
    cores: Cores,
    a: ArrayView2<'_, T>,
    b: ArrayView2<'_, T>,
    out: ArrayViewMut2<'_, T>,
    Scale { alpha, beta }: Scale<T>,
) {
    // By functions that are not generic, so that the kernels are compiled only in this crate.
    if TypeId::of::<T>() == TypeId::of::<f32>() {
        let scale = Scale { alpha: bytemuck::cast(alpha), beta: bytemuck::cast(beta) };
        product_f32(cores, same_type(a), same_type(b), same_type_mut(out), scale);
    } else {
        let scale = Scale { alpha: bytemuck::cast(alpha), beta: bytemuck::cast(beta) };
        product_f64(cores, same_type(a), same_type(b), same_type_mut(out), scale);
    }
}

fn product_f32(
    cores: Cores,
    a: ArrayView2<'_, f32>,
    b: ArrayView2<'_, f32>,
    out: ArrayViewMut2<'_, f32>,
    scale: Scale<f32>,
) {
    product(cores, a, b, out, scale);
}

fn product_f64(
    cores: Cores,
    a: ArrayView2<'_, f64>,
    b: ArrayView2<'_, f64>,
    out: ArrayViewMut2<'_, f64>,
    scale: Scale<f64>,
) {
    product(cores, a, b, out, scale);
}

/// `view`, whose element type is `U`.
#[allow(unsafe_code, reason = "the type system does not know that two types are one")]
pub(super) fn same_type<T: 'static, U: 'static>(view: ArrayView2<'_, T>) -> ArrayView2<'_, U> {
    assert_eq!(TypeId::of::<T>(), TypeId::of::<U>());
    // SAFETY: the types are the same, by the assertion; the view is `Copy`.
    unsafe { std::mem::transmute_copy::<ArrayView2<'_, T>, ArrayView2<'_, U>>(&view) }
}

/// `view`, whose element type is `U`.
#[allow(unsafe_code, reason = "the type system does not know that two types are one")]
pub(super) fn same_type_mut<T: 'static, U: 'static>(view: ArrayViewMut2<'_, T>) -> ArrayViewMut2<'_, U> {
    assert_eq!(TypeId::of::<T>(), TypeId::of::<U>());
    // SAFETY: the types are the same, by the assertion, and the original is moved in here: it is not used again, and
    // has nothing to drop.
    unsafe { std::mem::transmute_copy::<ArrayViewMut2<'_, T>, ArrayViewMut2<'_, U>>(&view) }
}

/// The least ratio of a product's depth to its rows for which computing the transpose pays: packing the smaller factor
/// saves more than transposing costs.
const TRANSPOSED_DEPTH_BY_ROWS: usize = 4;

/// How a product is computed. Together with [`pays_to_transpose`] it determines the order of the sums.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Method {
    /// [`Dot`].
    Dot,
    /// [`Blocked`], with blocks of this depth.
    Blocked(usize),
}

impl Method {
    fn of<C>(a: &ArrayView2<'_, C>, b: &ArrayView2<'_, C>) -> Self {
        let (rows, depth, columns) = (a.nrows(), a.ncols(), b.ncols());
        let few = rows.min(columns) < 4 || rows.min(columns) <= 16 && depth >= 256;
        if are_along(a, b) && few && depth >= 16 {
            Self::Dot
        } else {
            Self::Blocked(block_depth(rows, b.strides()[1] == 1))
        }
    }
}

/// Whether the transpose of a product is computed instead: if both factors are contiguous along the depth, the right
/// one is packed, and `a` is much smaller than `b`.
fn pays_to_transpose<C>(a: &ArrayView2<'_, C>, b: &ArrayView2<'_, C>) -> bool {
    let (rows, depth, columns) = (a.nrows(), a.ncols(), b.ncols());
    // The transpose has more rows than columns, so it is not transposed again.
    let is_smaller = rows > 1 && rows <= columns / 2 && depth >= TRANSPOSED_DEPTH_BY_ROWS * rows;
    is_smaller && are_along(a, b) && Method::of(a, b) != Method::Dot
}

/// Whether both factors are contiguous along the depth.
fn are_along<C>(a: &ArrayView2<'_, C>, b: &ArrayView2<'_, C>) -> bool {
    a.strides()[1] == 1 && b.strides()[0] == 1
}

/// `out = alpha * a x b + beta * out`.
fn product<C: Lanes>(
    cores: Cores,
    a: ArrayView2<'_, C>,
    b: ArrayView2<'_, C>,
    mut out: ArrayViewMut2<'_, C>,
    scale: Scale<C>,
) {
    let (rows, columns) = out.dim();
    let across = out.strides()[1] == 1 || columns == 1;
    if rows > 1 && out.strides()[0] == 1 && (columns == 1 || !across) {
        // The rows of its transpose are contiguous.
        return product(cores, b.reversed_axes(), a.reversed_axes(), out.reversed_axes(), scale);
    }
    let transposes = pays_to_transpose(&a, &b);
    if across && !transposes {
        let shared = cores == Cores::Pool && rows * columns * a.ncols() >= SHARED;
        let pieces = if shared { rayon::current_num_threads() } else { 1 };
        return share(pieces, Method::of(&a, &b), a, b, out, scale);
    }
    with_scratch([rows * columns], |[sums]: [&mut [C]; 1]| {
        let mut sums = if transposes {
            matrix_mut(sums, [columns, rows]).reversed_axes()
        } else {
            matrix_mut(sums, [rows, columns])
        };
        product(cores, a, b, sums.view_mut(), Scale { beta: C::ZERO, ..scale });
        out.zip_mut_with(&sums, |out, &sum| {
            *out = if scale.beta == C::ZERO { sum } else { sum + scale.beta * *out };
        });
    });
}

/// Divides a product into `pieces` of its rows or columns, one for each core.
fn share<C: Lanes>(
    pieces: usize,
    method: Method,
    a: ArrayView2<'_, C>,
    b: ArrayView2<'_, C>,
    out: ArrayViewMut2<'_, C>,
    scale: Scale<C>,
) {
    let (rows, columns) = out.dim();
    let (first, extent) = (pieces / 2, rows.max(columns));
    if pieces <= 1 || extent < 2 {
        return match method {
            Method::Dot => in_vectors(Dot { a, b, out, scale }),
            Method::Blocked(depth) => Blocked { a, b, out, scale, depth }.run(),
        };
    }
    let cut = (extent * first / pieces).max(1);
    let (parts_a, parts_b, [out_before, out_after]) = if rows >= columns {
        let ((before, after), out) = (a.split_at(Axis(0), cut), out.split_at(Axis(0), cut));
        ([before, after], [b, b], [out.0, out.1])
    } else {
        let ((before, after), out) = (b.split_at(Axis(1), cut), out.split_at(Axis(1), cut));
        ([a, a], [before, after], [out.0, out.1])
    };
    rayon::join(
        || share(first, method, parts_a[0], parts_b[0], out_before, scale),
        || share(pieces - first, method, parts_a[1], parts_b[1], out_after, scale),
    );
}
