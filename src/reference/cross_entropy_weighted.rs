//! Cross-entropy and negative log-likelihood, with weights of the classes, label smoothing and an ignored label.

use ndarray::{ArrayView1, ArrayView2, ArrayViewMut0, ArrayViewMut1, ArrayViewMut2};

use super::softmax::{logarithm_terms, logarithms, probabilities, probability_terms};
use super::sum::sum_of;
use crate::ops::LossReduction;

/// The weights of the classes in the loss of a sample, each times its target probability; none if it does not count.
fn targets(
    label: f64,
    weights: ArrayView1<'_, f64>,
    classes: usize,
    smoothing: f64,
    ignored: i64,
) -> Option<Vec<f64>> {
    let of = |class: usize| {
        let is_label = if label == class as f64 { 1.0 - smoothing } else { 0.0 };
        weight(weights, class) * (is_label + smoothing / classes as f64)
    };
    (label != ignored as f64).then(|| (0..classes).map(of).collect())
}

fn weight(weights: ArrayView1<'_, f64>, class: usize) -> f64 {
    weights[class % weights.len()]
}

/// What the losses are multiplied by.
fn scale(
    labels: ArrayView1<'_, f64>,
    weights: ArrayView1<'_, f64>,
    ignored: i64,
    reduction: LossReduction,
    factor: f64,
) -> f64 {
    let counted = labels.iter().filter(|label| **label != ignored as f64);
    match reduction {
        LossReduction::Sum => factor,
        LossReduction::Mean => factor / sum_of(counted.map(|&label| weight(weights, label as usize))),
    }
}

/// The sum of products, of which those with 0 count 0.
fn weighted(values: &[f64], targets: Option<Vec<f64>>) -> f64 {
    let targets = targets.unwrap_or_else(|| vec![0.0; values.len()]);
    let products = values.iter().zip(targets).filter(|(_, target)| *target != 0.0);
    sum_of(products.map(|(value, target)| value * target))
}

#[allow(clippy::too_many_arguments, reason = "it has the signature of the operation")]
pub(crate) fn cross_entropy_weighted(
    logits: ArrayView2<'_, f64>,
    labels: ArrayView1<'_, f64>,
    weights: ArrayView1<'_, f64>,
    mut out: ArrayViewMut0<'_, f64>,
    smoothing: f64,
    ignored: i64,
    reduction: LossReduction,
    factor: f64,
) {
    let losses = logits.rows().into_iter().zip(labels).map(|(row, &label)| {
        -weighted(&logarithms(&row.to_vec()), targets(label, weights, row.len(), smoothing, ignored))
    });
    out[[]] += scale(labels, weights, ignored, reduction, factor) * sum_of(losses);
}

#[allow(clippy::too_many_arguments, reason = "it has the signature of the operation")]
pub(crate) fn cross_entropy_weighted_terms(
    logits: ArrayView2<'_, f64>,
    labels: ArrayView1<'_, f64>,
    weights: ArrayView1<'_, f64>,
    mut out: ArrayViewMut0<'_, f64>,
    smoothing: f64,
    ignored: i64,
    reduction: LossReduction,
    factor: f64,
) {
    let terms = logits.rows().into_iter().zip(labels).map(|(row, &label)| {
        weighted(&logarithm_terms(&row.to_vec()), targets(label, weights, row.len(), smoothing, ignored))
            .abs()
    });
    let scale = scale(labels, weights, ignored, reduction, factor).abs();
    out[[]] = out[[]].abs() + scale * sum_of(terms);
}

pub(crate) fn cross_entropy_each(
    logits: ArrayView2<'_, f64>,
    labels: ArrayView1<'_, f64>,
    weights: ArrayView1<'_, f64>,
    mut out: ArrayViewMut1<'_, f64>,
    smoothing: f64,
    ignored: i64,
) {
    for ((row, &label), out) in logits.rows().into_iter().zip(labels).zip(&mut out) {
        let targets = targets(label, weights, row.len(), smoothing, ignored);
        *out = if targets.is_none() { 0.0 } else { -weighted(&logarithms(&row.to_vec()), targets) };
    }
}

pub(crate) fn cross_entropy_each_terms(
    logits: ArrayView2<'_, f64>,
    labels: ArrayView1<'_, f64>,
    weights: ArrayView1<'_, f64>,
    mut out: ArrayViewMut1<'_, f64>,
    smoothing: f64,
    ignored: i64,
) {
    for ((row, &label), out) in logits.rows().into_iter().zip(labels).zip(&mut out) {
        let targets = targets(label, weights, row.len(), smoothing, ignored);
        *out = weighted(&logarithm_terms(&row.to_vec()), targets).abs();
    }
}

#[allow(clippy::too_many_arguments, reason = "it has the signature of the operation")]
pub(crate) fn cross_entropy_weighted_backward(
    logits: ArrayView2<'_, f64>,
    labels: ArrayView1<'_, f64>,
    weights: ArrayView1<'_, f64>,
    mut out: ArrayViewMut2<'_, f64>,
    smoothing: f64,
    ignored: i64,
    reduction: LossReduction,
    factor: f64,
) {
    let scale = scale(labels, weights, ignored, reduction, factor);
    for ((row, &label), mut out) in logits.rows().into_iter().zip(labels).zip(out.rows_mut()) {
        let Some(targets) = targets(label, weights, row.len(), smoothing, ignored) else {
            out.fill(0.0);
            continue;
        };
        let probabilities = probabilities(&row.to_vec());
        for (class, out) in out.iter_mut().enumerate() {
            // p[j] * sum of t - t[j] = p[j] * (sum of the other t) - t[j] * (sum of the other p).
            let others = |values: &[f64]| {
                sum_of(
                    values.iter().enumerate().filter(|(other, _)| *other != class).map(|(_, value)| *value),
                )
            };
            let gained = probabilities[class] * others(&targets);
            let lost = targets[class] * others(&probabilities);
            // A zero has the sign of the term that there is.
            let difference = match (targets[class] == 0.0, gained == 0.0) {
                (true, _) => gained,
                (false, true) => -lost,
                (false, false) => gained - lost,
            };
            *out = scale * difference;
        }
    }
}

#[allow(clippy::too_many_arguments, reason = "it has the signature of the operation")]
pub(crate) fn cross_entropy_weighted_backward_terms(
    logits: ArrayView2<'_, f64>,
    labels: ArrayView1<'_, f64>,
    weights: ArrayView1<'_, f64>,
    mut out: ArrayViewMut2<'_, f64>,
    smoothing: f64,
    ignored: i64,
    reduction: LossReduction,
    factor: f64,
) {
    let scale = scale(labels, weights, ignored, reduction, factor).abs();
    for ((row, &label), mut out) in logits.rows().into_iter().zip(labels).zip(out.rows_mut()) {
        let targets = targets(label, weights, row.len(), smoothing, ignored);
        let targets = targets.unwrap_or_else(|| vec![0.0; row.len()]);
        let terms = probability_terms(&row.to_vec());
        let sum = sum_of(targets.iter().map(|target| target.abs()));
        for (class, out) in out.iter_mut().enumerate() {
            *out = scale * (sum * terms[class] + targets[class].abs());
        }
    }
}

#[allow(clippy::too_many_arguments, reason = "it has the signature of the operation")]
pub(crate) fn label_weight(
    labels: ArrayView1<'_, f64>,
    weights: ArrayView1<'_, f64>,
    mut out: ArrayViewMut1<'_, f64>,
    classes: usize,
    smoothing: f64,
    ignored: i64,
    reduction: LossReduction,
    factor: f64,
) {
    let scale = scale(labels, weights, ignored, reduction, factor);
    for (&label, out) in labels.iter().zip(&mut out) {
        *out = targets(label, weights, classes, smoothing, ignored)
            .map_or(0.0, |targets| scale * sum_of(targets));
    }
}

/// The loss of a sample.
fn loss(row: ArrayView1<'_, f64>, label: f64, weights: ArrayView1<'_, f64>, ignored: i64) -> f64 {
    let class = label as usize;
    if label == ignored as f64 { 0.0 } else { -(weight(weights, class) * row[class]) }
}

pub(crate) fn nll(
    input: ArrayView2<'_, f64>,
    labels: ArrayView1<'_, f64>,
    weights: ArrayView1<'_, f64>,
    mut out: ArrayViewMut0<'_, f64>,
    ignored: i64,
    reduction: LossReduction,
    factor: f64,
) {
    let losses = input.rows().into_iter().zip(labels).map(|(row, &label)| loss(row, label, weights, ignored));
    out[[]] += scale(labels, weights, ignored, reduction, factor) * sum_of(losses);
}

pub(crate) fn nll_terms(
    input: ArrayView2<'_, f64>,
    labels: ArrayView1<'_, f64>,
    weights: ArrayView1<'_, f64>,
    mut out: ArrayViewMut0<'_, f64>,
    ignored: i64,
    reduction: LossReduction,
    factor: f64,
) {
    let losses =
        input.rows().into_iter().zip(labels).map(|(row, &label)| loss(row, label, weights, ignored).abs());
    out[[]] = out[[]].abs() + scale(labels, weights, ignored, reduction, factor).abs() * sum_of(losses);
}

pub(crate) fn nll_each(
    input: ArrayView2<'_, f64>,
    labels: ArrayView1<'_, f64>,
    weights: ArrayView1<'_, f64>,
    mut out: ArrayViewMut1<'_, f64>,
    ignored: i64,
) {
    for ((row, &label), out) in input.rows().into_iter().zip(labels).zip(&mut out) {
        *out = loss(row, label, weights, ignored);
    }
}

pub(crate) fn nll_backward(
    labels: ArrayView1<'_, f64>,
    weights: ArrayView1<'_, f64>,
    mut out: ArrayViewMut2<'_, f64>,
    _classes: usize,
    ignored: i64,
    reduction: LossReduction,
    factor: f64,
) {
    let scale = scale(labels, weights, ignored, reduction, factor);
    for (&label, mut row) in labels.iter().zip(out.rows_mut()) {
        for (class, out) in row.iter_mut().enumerate() {
            let is_label = label != ignored as f64 && label == class as f64;
            *out = if is_label { -(scale * weight(weights, class)) } else { 0.0 };
        }
    }
}
