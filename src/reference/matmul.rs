//! Matrix products, one element after the other.

use ndarray::{ArrayView1, ArrayView2, ArrayView3, ArrayViewMut1, ArrayViewMut2, ArrayViewMut3};

use super::sum::Sum;
use crate::ops::Transposed;

pub(crate) fn matmul(
    a: ArrayView2<'_, f64>,
    b: ArrayView2<'_, f64>,
    mut out: ArrayViewMut2<'_, f64>,
    transposed: Transposed,
) {
    out.fill(0.0);
    matmul_add(a, b, out, transposed);
}

pub(crate) fn matmul_add(
    a: ArrayView2<'_, f64>,
    b: ArrayView2<'_, f64>,
    mut out: ArrayViewMut2<'_, f64>,
    transposed: Transposed,
) {
    let a = if transposed.left { a.t() } else { a.view() };
    let b = if transposed.right { b.t() } else { b.view() };
    for ((i, j), out) in out.indexed_iter_mut() {
        *out = inner_product(a.row(i), b.column(j), *out);
    }
}

pub(crate) fn matmul_batched(
    a: ArrayView3<'_, f64>,
    b: ArrayView3<'_, f64>,
    mut out: ArrayViewMut3<'_, f64>,
    transposed: Transposed,
) {
    for ((a, b), out) in a.outer_iter().zip(b.outer_iter()).zip(out.outer_iter_mut()) {
        matmul(a, b, out, transposed);
    }
}

pub(crate) fn matvec(
    a: ArrayView2<'_, f64>,
    vector: ArrayView1<'_, f64>,
    mut out: ArrayViewMut1<'_, f64>,
    is_transposed: bool,
) {
    let a = if is_transposed { a.t() } else { a.view() };
    for (row, out) in a.rows().into_iter().zip(&mut out) {
        *out = inner_product(row, vector, 0.0);
    }
}

pub(crate) fn outer(column: ArrayView1<'_, f64>, row: ArrayView1<'_, f64>, mut out: ArrayViewMut2<'_, f64>) {
    for ((i, j), out) in out.indexed_iter_mut() {
        *out = column[i] * row[j];
    }
}

pub(crate) fn dot(x: &[f64], y: &[f64], out: &mut [f64]) {
    out[0] = inner_product(x.into(), y.into(), out[0]);
}

fn inner_product(a: ArrayView1<'_, f64>, b: ArrayView1<'_, f64>, old: f64) -> f64 {
    let mut sum = Sum::default();
    sum.add(old);
    a.iter().zip(b).for_each(|(&a, &b)| sum.add_product(a, b));
    sum.total()
}
