//! The heads of attention: each feature is found by its head and its place in it.

use ndarray::{ArrayView3, ArrayView4, ArrayViewMut3, ArrayViewMut4};

use crate::ops::Heads;

pub(crate) fn split_heads(
    input: ArrayView3<'_, f64>,
    query: ArrayViewMut4<'_, f64>,
    key: ArrayViewMut4<'_, f64>,
    value: ArrayViewMut4<'_, f64>,
    heads: Heads,
) {
    let mut first = 0;
    for (mut out, count) in [(query, heads.queries), (key, heads.keys), (value, heads.keys)] {
        let width = out.dim().3;
        for ((sample, head, token, feature), out) in out.indexed_iter_mut() {
            *out = input[[sample, token, first + head * width + feature]];
        }
        first += count * width;
    }
}

pub(crate) fn join_heads(
    query: ArrayView4<'_, f64>,
    key: ArrayView4<'_, f64>,
    value: ArrayView4<'_, f64>,
    mut out: ArrayViewMut3<'_, f64>,
) {
    for ((sample, token, feature), out) in out.indexed_iter_mut() {
        let mut rest = feature;
        for part in [&query, &key, &value] {
            let (_, heads, _, width) = part.dim();
            if rest < heads * width {
                *out = part[[sample, rest / width, token, rest % width]];
                break;
            }
            rest -= heads * width;
        }
    }
}

pub(crate) fn merge_heads(input: ArrayView4<'_, f64>, mut out: ArrayViewMut3<'_, f64>) {
    let width = input.dim().3;
    for ((sample, token, feature), out) in out.indexed_iter_mut() {
        *out = input[[sample, feature / width, token, feature % width]];
    }
}

pub(crate) fn divide_heads(input: ArrayView3<'_, f64>, mut out: ArrayViewMut4<'_, f64>) {
    let width = out.dim().3;
    for ((sample, head, token, feature), out) in out.indexed_iter_mut() {
        *out = input[[sample, token, head * width + feature]];
    }
}
