//! Cross-entropy, its gradient, and the number of correct predictions.

use ndarray::{ArrayView1, ArrayView2, ArrayViewMut0, ArrayViewMut2};

use super::arg_extreme::place_of_largest;
use super::softmax::{logarithm_terms, logarithms, probabilities, probability_terms};
use super::sum::{Sum, sum_of};

pub(crate) fn cross_entropy(
    logits: ArrayView2<'_, f64>,
    labels: ArrayView1<'_, f64>,
    mut out: ArrayViewMut0<'_, f64>,
    factor: f64,
) {
    let losses = logits.rows().into_iter().zip(labels);
    let sum = sum_of(losses.map(|(row, &label)| -logarithms(&row.to_vec())[label as usize]));
    let mut total = Sum::default();
    total.add(out[[]]);
    total.add_product(factor, sum);
    out[[]] = total.total();
}

pub(crate) fn cross_entropy_terms(
    logits: ArrayView2<'_, f64>,
    labels: ArrayView1<'_, f64>,
    mut out: ArrayViewMut0<'_, f64>,
    factor: f64,
) {
    let terms = logits.rows().into_iter().zip(labels);
    let sum = sum_of(terms.map(|(row, &label)| logarithm_terms(&row.to_vec())[label as usize]));
    out[[]] = out[[]].abs() + factor.abs() * sum;
}

pub(crate) fn cross_entropy_backward(
    logits: ArrayView2<'_, f64>,
    labels: ArrayView1<'_, f64>,
    mut out: ArrayViewMut2<'_, f64>,
    factor: f64,
) {
    for ((row, &label), mut out) in logits.rows().into_iter().zip(labels).zip(out.rows_mut()) {
        let probabilities = probabilities(&row.to_vec());
        for (class, (out, probability)) in out.iter_mut().zip(&probabilities).enumerate() {
            // One less than a probability is minus the sum of the others.
            let others = || {
                sum_of(
                    probabilities
                        .iter()
                        .copied()
                        .enumerate()
                        .filter(|(other, _)| *other != class)
                        .map(|(_, p)| p),
                )
            };
            let is_label = class == label as usize && !probability.is_nan();
            *out = factor * if is_label { -others() } else { *probability };
        }
    }
}

pub(crate) fn cross_entropy_backward_terms(
    logits: ArrayView2<'_, f64>,
    labels: ArrayView1<'_, f64>,
    mut out: ArrayViewMut2<'_, f64>,
    factor: f64,
) {
    for ((row, &label), mut out) in logits.rows().into_iter().zip(labels).zip(out.rows_mut()) {
        let terms = probability_terms(&row.to_vec());
        let probabilities = probabilities(&row.to_vec());
        for (class, out) in out.iter_mut().enumerate() {
            let others = || {
                sum_of(
                    terms
                        .iter()
                        .copied()
                        .enumerate()
                        .filter(|(other, _)| *other != class)
                        .map(|(_, term)| term),
                )
            };
            *out = factor.abs()
                * match class == label as usize {
                    true if probabilities[class] > 0.5 => others(),
                    true => terms[class] + 1.0,
                    false => terms[class],
                };
        }
    }
}

pub(crate) fn count_correct(
    logits: ArrayView2<'_, f64>,
    labels: ArrayView1<'_, f64>,
    mut out: ArrayViewMut0<'_, u32>,
) {
    for (row, &label) in logits.rows().into_iter().zip(labels) {
        out[[]] += u32::from(place_of_largest(&row.to_vec()) == label as usize);
    }
}
