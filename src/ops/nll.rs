//! The negative log-likelihood: minus the logarithm of the probability of each label.
//!
//! As [`cross_entropy_weighted`](super::cross_entropy_weighted()), whose input are logits, it has weights of the
//! classes and an ignored label.

use dahl::ndarray::{ArrayView1, ArrayView2, ArrayViewMut0, ArrayViewMut1, ArrayViewMut2};
use dahl::prelude::*;
use dahl::simd;

use super::label::Label;
use super::label_weight::{LossReduction, WeightedLabels, weigh};
use crate::cpu::scratch::with_scratch;

/// Adds to `out` the sum of `-weights[labels[i]] * input[i, labels[i]]` over all samples times `factor`, or their mean
/// times `factor`: the sum, divided by the sum of the weights of the labels that count. A label that is `ignored` does
/// not count.
///
/// Any other label that is not below the number of classes fails the task. There is no gradient by the weights.
///
/// # Shapes
/// `input: [batch, classes]`, logarithms of probabilities, `labels: [batch]`, `weights: [classes]`, or `[1]` for a
/// weight of all classes, `out: []`.
#[codelet(
    R, R, R, REDUX,
    shape(out = []),
    check(input.nrows() == labels.len()),
    check(weigh(weights.len(), input.ncols())),
    flops = 2 * labels.len(),
    cuda = crate::kernels::NLL,
    gradient = nll_gradient(labels, weights),
    reference = crate::reference::cross_entropy_weighted::nll,
    error = sum(n = labels.len() + 4, terms = crate::reference::cross_entropy_weighted::nll_terms)
)]
pub fn nll<T: Real, L: Label + Element>(
    input: ArrayView2<T>,
    labels: ArrayView1<L>,
    weights: ArrayView1<T>,
    mut out: ArrayViewMut0<T::Compute>,
    ignored: i64,
    reduction: LossReduction,
    factor: f64,
) {
    let labels = WeightedLabels { labels, weights, classes: input.ncols(), ignored };
    with_scratch([input.nrows()], |[losses]: [&mut [T::Compute]; 1]| {
        let scale = labels.scale(reduction, factor, losses);
        for (sample, loss) in losses.iter_mut().enumerate() {
            *loss = loss_of(input, labels, sample, scale);
        }
        // A scale that is infinite, if no label counts, makes the mean of nothing: NaN.
        out[[]] += simd::sum(losses) + scale * T::Compute::ZERO;
    });
}

fn nll_gradient<T: Real, L: Label + Element>(rule: NllGradient<'_, T, L>) -> dahl::Result<()> {
    rule.scope.refuse(rule.by_weights);
    let NllGradient { labels, weights, gradient, by_input, ignored, reduction, factor, scope, .. } = rule;
    let Some(by_input) = by_input else { return Ok(()) };
    let [_, classes] = by_input.shape();
    let of_one = nll_backward_init(scope, labels, weights, classes, ignored, reduction, factor)?;
    *by_input = super::mul_init(scope, &of_one, &*gradient.reshaped([1, 1])?)?;
    Ok(())
}

/// `out[i] = -weights[labels[i]] * input[i, labels[i]]`, and 0 where the label is `ignored`.
///
/// Any other label that is not below the number of classes fails the task. There is no gradient by the weights.
///
/// # Shapes
/// `input: [batch, classes]`, logarithms of probabilities, `labels` and `out: [batch]`, `weights: [classes]`, or `[1]`
/// for a weight of all classes.
#[codelet(
    R, R, R, W,
    shape(out = labels),
    check(input.nrows() == labels.len()),
    check(weigh(weights.len(), input.ncols())),
    flops = labels.len(),
    cuda = crate::kernels::NLL_EACH,
    gradient = nll_each_gradient(labels, weights),
    reference = crate::reference::cross_entropy_weighted::nll_each,
    error = ulp(1)
)]
pub fn nll_each<T: Real, L: Label + Element>(
    input: ArrayView2<T>,
    labels: ArrayView1<L>,
    weights: ArrayView1<T>,
    mut out: ArrayViewMut1<T>,
    ignored: i64,
) {
    let labels = WeightedLabels { labels, weights, classes: input.ncols(), ignored };
    for (sample, out) in out.iter_mut().enumerate() {
        *out = T::narrow(loss_of(input, labels, sample, T::Compute::ONE));
    }
}

fn nll_each_gradient<T: Real, L: Label + Element>(rule: NllEachGradient<'_, T, L>) -> dahl::Result<()> {
    rule.scope.refuse(rule.by_weights);
    let NllEachGradient { labels, weights, gradient, by_input, ignored, scope, .. } = rule;
    let Some(by_input) = by_input else { return Ok(()) };
    let [_, classes] = by_input.shape();
    let of_one = nll_backward_init(scope, labels, weights, classes, ignored, LossReduction::Sum, 1.0)?;
    *by_input = super::mul_init(scope, &of_one, &*gradient.reshaped([labels.len(), 1])?)?;
    Ok(())
}

/// The loss of a sample, times `scale`. That goes in before the input, since the product of the others could overflow.
#[inline(always)]
fn loss_of<T: Real, L: Label + Element>(
    input: ArrayView2<'_, T>,
    labels: WeightedLabels<'_, T, L>,
    sample: usize,
    scale: T::Compute,
) -> T::Compute {
    match labels.class(sample) {
        Some(class) => -(scale * labels.weight(class) * input[[sample, class]].widen()),
        None => T::Compute::ZERO,
    }
}

/// The gradient of [`nll`] by its input: minus the weight of the label, with the scale of the reduction, at the label
/// of each sample, and 0 elsewhere.
///
/// # Shapes
/// `labels: [batch]`, `weights: [classes]`, or `[1]` for a weight of all classes, `out: [batch, classes]`.
#[codelet(
    R, R, W,
    shape(out = [labels.len(), classes]),
    check(weigh(weights.len(), classes)),
    flops = labels.len(),
    cuda = crate::kernels::NLL_BACKWARD,
    gradient = none,
    reference = crate::reference::cross_entropy_weighted::nll_backward,
    error = sum(n = labels.len() + 4, terms = crate::reference::cross_entropy_weighted::nll_backward)
)]
pub fn nll_backward<T: Real, L: Label + Element>(
    labels: ArrayView1<L>,
    weights: ArrayView1<T>,
    mut out: ArrayViewMut2<T>,
    classes: usize,
    ignored: i64,
    reduction: LossReduction,
    factor: f64,
) {
    let labels = WeightedLabels { labels, weights, classes, ignored };
    let scale =
        with_scratch([out.nrows()], |[sums]: [&mut [T::Compute]; 1]| labels.scale(reduction, factor, sums));
    out.fill(T::ZERO);
    for sample in 0..out.nrows() {
        if let Some(class) = labels.class(sample) {
            out[[sample, class]] = T::narrow(-(scale * labels.weight(class)));
        }
    }
}
