//! A step of a long short-term memory, number by number.
//!
//! The function `.._terms` sums the magnitudes of what an element is computed from.

use ndarray::{ArrayView2, ArrayViewMut2};

use super::gate::{logistic, tanh_terms};

/// `(hidden, next)` for each element of the state, from its gates `[i, f, g, o]` and the state.
fn each(
    gates: ArrayView2<'_, f64>,
    cell: ArrayView2<'_, f64>,
    mut hidden: ArrayViewMut2<'_, f64>,
    mut next: ArrayViewMut2<'_, f64>,
    step: impl Fn([f64; 4], f64) -> (f64, f64),
) {
    let width = cell.ncols();
    for ((row, column), cell) in cell.indexed_iter() {
        let gates = [0, 1, 2, 3].map(|gate| gates[[row, gate * width + column]]);
        (hidden[[row, column]], next[[row, column]]) = step(gates, *cell);
    }
}

pub(crate) fn lstm_cell(
    gates: ArrayView2<'_, f64>,
    cell: ArrayView2<'_, f64>,
    hidden: ArrayViewMut2<'_, f64>,
    next: ArrayViewMut2<'_, f64>,
) {
    each(gates, cell, hidden, next, |[input, forget, candidate, output], cell| {
        let next = logistic(forget) * cell + logistic(input) * candidate.tanh();
        (logistic(output) * next.tanh(), next)
    });
}

pub(crate) fn lstm_cell_terms(
    gates: ArrayView2<'_, f64>,
    cell: ArrayView2<'_, f64>,
    hidden: ArrayViewMut2<'_, f64>,
    next: ArrayViewMut2<'_, f64>,
) {
    each(gates, cell, hidden, next, |[input, forget, candidate, output], cell| {
        let (kept, added) = (logistic(forget) * cell, logistic(input) * candidate.tanh());
        let terms = kept.abs() + added.abs();
        (logistic(output) * tanh_terms(kept + added, terms), terms)
    });
}
