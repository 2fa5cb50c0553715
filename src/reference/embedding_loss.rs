//! Losses of pairs that are alike or not.

use ndarray::{ArrayView1, ArrayView2, ArrayViewMut1, ArrayViewMut2};

use super::sum::{Sum, sum_of};

pub(crate) fn hinge_embedding(x: f64, y: f64, margin: f64) -> f64 {
    let apart = if margin < x { 0.0 } else { margin - x };
    match y {
        1.0 => 0.0 + x,
        -1.0 => apart,
        _ => apart + x,
    }
}

pub(crate) fn hinge_embedding_terms(x: f64, _: f64, margin: f64) -> f64 {
    2.0 * x.abs() + margin.abs()
}

/// The inner product of two vectors, and their squares.
fn products(left: ArrayView1<'_, f64>, right: ArrayView1<'_, f64>) -> [f64; 3] {
    let dot = |a: ArrayView1<'_, f64>, b: ArrayView1<'_, f64>| {
        let mut sum = Sum::default();
        a.iter().zip(b).for_each(|(a, b)| sum.add_product(*a, *b));
        sum.total()
    };
    [dot(left, right), dot(left, left) + 1e-12, dot(right, right) + 1e-12]
}

fn cosine([dot, left, right]: [f64; 3]) -> f64 {
    dot / (left * right).sqrt()
}

pub(crate) fn cosine_embedding(
    left: ArrayView2<'_, f64>,
    right: ArrayView2<'_, f64>,
    target: ArrayView1<'_, f64>,
    mut out: ArrayViewMut1<'_, f64>,
    margin: f64,
) {
    for (pair, out) in out.iter_mut().enumerate() {
        let cosine = cosine(products(left.row(pair), right.row(pair)));
        *out = match target[pair] {
            1.0 => 1.0 - cosine,
            -1.0 if cosine < margin => 0.0,
            -1.0 => cosine - margin,
            _ => 0.0,
        };
    }
}

pub(crate) fn cosine_embedding_terms(
    left: ArrayView2<'_, f64>,
    right: ArrayView2<'_, f64>,
    _: ArrayView1<'_, f64>,
    mut out: ArrayViewMut1<'_, f64>,
    margin: f64,
) {
    for (pair, out) in out.iter_mut().enumerate() {
        let [_, a, b] = products(left.row(pair), right.row(pair));
        let sum =
            sum_of(left.row(pair).iter().zip(right.row(pair)).map(|(left, right)| (left * right).abs()));
        *out = 1.0 + margin.abs() + cosine([sum, a, b]);
    }
}

pub(crate) fn cosine_embedding_backward(
    left: ArrayView2<'_, f64>,
    right: ArrayView2<'_, f64>,
    target: ArrayView1<'_, f64>,
    gradient: ArrayView1<'_, f64>,
    mut out: ArrayViewMut2<'_, f64>,
    margin: f64,
) {
    for (pair, mut out) in out.rows_mut().into_iter().enumerate() {
        let products = products(left.row(pair), right.row(pair));
        let slope = match target[pair] {
            1.0 => -gradient[pair],
            -1.0 if cosine(products) >= margin => gradient[pair],
            _ => 0.0,
        };
        let [dot, a, b] = products;
        for (out, (left, right)) in out.iter_mut().zip(left.row(pair).iter().zip(right.row(pair))) {
            *out = slope * (right - dot / a * left) / (a * b).sqrt();
        }
    }
}

pub(crate) fn cosine_embedding_backward_terms(
    left: ArrayView2<'_, f64>,
    right: ArrayView2<'_, f64>,
    _: ArrayView1<'_, f64>,
    gradient: ArrayView1<'_, f64>,
    mut out: ArrayViewMut2<'_, f64>,
    _: f64,
) {
    for (pair, mut out) in out.rows_mut().into_iter().enumerate() {
        let [_, a, b] = products(left.row(pair), right.row(pair));
        let sum =
            sum_of(left.row(pair).iter().zip(right.row(pair)).map(|(left, right)| (left * right).abs()));
        for (out, (left, right)) in out.iter_mut().zip(left.row(pair).iter().zip(right.row(pair))) {
            *out = gradient[pair].abs() * (right.abs() + sum / a * left.abs()) / (a * b).sqrt();
        }
    }
}
