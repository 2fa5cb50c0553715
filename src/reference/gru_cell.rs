//! A step of a gated recurrent unit, number by number.
//!
//! The function `.._terms` sums the magnitudes of what an element is computed from.

use ndarray::{ArrayView2, ArrayViewMut2};

use super::gate::{logistic, logistic_terms, tanh_terms};

/// An element for each one of the state, from its gates `[r, z, n]` of the input and of the state, and the state.
fn each(
    input_gates: ArrayView2<'_, f64>,
    hidden_gates: ArrayView2<'_, f64>,
    hidden: ArrayView2<'_, f64>,
    mut out: ArrayViewMut2<'_, f64>,
    step: impl Fn([f64; 3], [f64; 3], f64) -> f64,
) {
    let width = hidden.ncols();
    for ((row, column), hidden) in hidden.indexed_iter() {
        let of = |gates: ArrayView2<'_, f64>| [0, 1, 2].map(|gate| gates[[row, gate * width + column]]);
        out[[row, column]] = step(of(input_gates), of(hidden_gates), *hidden);
    }
}

pub(crate) fn gru_cell(
    input_gates: ArrayView2<'_, f64>,
    hidden_gates: ArrayView2<'_, f64>,
    hidden: ArrayView2<'_, f64>,
    out: ArrayViewMut2<'_, f64>,
) {
    each(input_gates, hidden_gates, hidden, out, |[x_r, x_z, x_n], [h_r, h_z, h_n], hidden| {
        let candidate = (x_n + logistic(x_r + h_r) * h_n).tanh();
        let update = logistic(x_z + h_z);
        // `1 - update`, where it is small.
        logistic(-(x_z + h_z)) * candidate + update * hidden
    });
}

pub(crate) fn gru_cell_terms(
    input_gates: ArrayView2<'_, f64>,
    hidden_gates: ArrayView2<'_, f64>,
    hidden: ArrayView2<'_, f64>,
    out: ArrayViewMut2<'_, f64>,
) {
    each(input_gates, hidden_gates, hidden, out, |[x_r, x_z, x_n], [h_r, h_z, h_n], hidden| {
        let reset = logistic(x_r + h_r);
        let sum = x_n + reset * h_n;
        let of_sum = x_n.abs() + h_n.abs() * logistic_terms(x_r + h_r, x_r.abs() + h_r.abs());
        let candidate = tanh_terms(sum, of_sum);
        let update = logistic_terms(x_z + h_z, x_z.abs() + h_z.abs());
        candidate + update * (hidden.abs() + sum.tanh().abs())
    });
}
