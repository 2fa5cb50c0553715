//! Cross-entropy with weights of the classes, label smoothing and an ignored label.
//!
//! The loss of one sample is the sum over the classes of `-weights[j] * target[j] * ln(softmax(logits)[j])`, with
//! `target[j] = (1 - smoothing) * (label == j) + smoothing / classes` (Szegedy et al. 2016, *Rethinking the Inception
//! Architecture for Computer Vision*, section 7). It is 0 where the label is `ignored`. The definitions are PyTorch's.
//!
//! Without these, [`cross_entropy`](super::cross_entropy()) does the same with less work.

use dahl::ndarray::{ArrayView1, ArrayView2, ArrayViewMut0, ArrayViewMut1, ArrayViewMut2, s};
use dahl::prelude::*;
use dahl::simd;

use super::cross_entropy::samples_at_a_time;
use super::label::Label;
use super::label_weight::{LossReduction, WeightedLabels, is_smoothing, weigh};
use super::softmax::{log_softmax_lanes, softmax_lanes};
use crate::cpu::row_major::write;
use crate::cpu::scratch::with_scratch;

/// Adds to `out` the sum of the losses of all samples times `factor`, or their mean times `factor`: the sum, divided by
/// the sum of the weights of the labels that count.
///
/// A label that is neither `ignored` nor below the number of classes fails the task. There is no gradient by the
/// weights.
///
/// # Shapes
/// `logits: [batch, classes]`, `labels: [batch]`, `weights: [classes]`, or `[1]` for a weight of all classes,
/// `out: []`.
#[codelet(
    R, R, R, REDUX,
    shape(out = []),
    check(logits.nrows() == labels.len()),
    check(weigh(weights.len(), logits.ncols())),
    check(is_smoothing(smoothing)),
    flops = 6 * logits.len(),
    cuda = crate::kernels::CROSS_ENTROPY_WEIGHTED,
    gradient = cross_entropy_weighted_gradient(logits, labels, weights),
    reference = crate::reference::cross_entropy_weighted::cross_entropy_weighted,
    error = sum(
        n = logits.len() + 16,
        terms = crate::reference::cross_entropy_weighted::cross_entropy_weighted_terms
    )
)]
pub fn cross_entropy_weighted<T: Real, L: Label + Element>(
    logits: ArrayView2<T>,
    labels: ArrayView1<L>,
    weights: ArrayView1<T>,
    mut out: ArrayViewMut0<T::Compute>,
    smoothing: f64,
    ignored: i64,
    reduction: LossReduction,
    factor: f64,
) {
    let labels = WeightedLabels { labels, weights, classes: logits.ncols(), ignored };
    with_scratch([logits.nrows()], |[losses]: [&mut [T::Compute]; 1]| {
        let scale = labels.scale(reduction, factor, losses);
        losses_of(logits, labels, smoothing, scale, losses);
        // A scale that is infinite, if no label counts, makes the mean of nothing: NaN.
        out[[]] += simd::sum(losses) + scale * T::Compute::ZERO;
    });
}

fn cross_entropy_weighted_gradient<T: Real, L: Label + Element>(
    rule: CrossEntropyWeightedGradient<'_, T, L>,
) -> dahl::Result<()> {
    rule.scope.refuse(rule.by_weights);
    let CrossEntropyWeightedGradient { logits, labels, weights, gradient, by_logits, scope, .. } = rule;
    let (smoothing, ignored, reduction, factor) = (rule.smoothing, rule.ignored, rule.reduction, rule.factor);
    let Some(by_logits) = by_logits else { return Ok(()) };
    let of_one = cross_entropy_weighted_backward_init(
        scope, logits, labels, weights, smoothing, ignored, reduction, factor,
    )?;
    *by_logits = super::mul_init(scope, &of_one, &*gradient.reshaped([1, 1])?)?;
    Ok(())
}

/// The loss of each sample.
///
/// A label that is neither `ignored` nor below the number of classes fails the task. There is no gradient by the
/// weights.
///
/// # Shapes
/// `logits: [batch, classes]`, `labels` and `out: [batch]`, `weights: [classes]`, or `[1]` for a weight of all classes.
#[codelet(
    R, R, R, W,
    shape(out = labels),
    check(logits.nrows() == labels.len()),
    check(weigh(weights.len(), logits.ncols())),
    check(is_smoothing(smoothing)),
    flops = 6 * logits.len(),
    cuda = crate::kernels::CROSS_ENTROPY_EACH,
    gradient = cross_entropy_each_gradient(logits, labels, weights),
    reference = crate::reference::cross_entropy_weighted::cross_entropy_each,
    error = sum(
        n = logits.ncols() + 16,
        terms = crate::reference::cross_entropy_weighted::cross_entropy_each_terms
    )
)]
pub fn cross_entropy_each<T: Real, L: Label + Element>(
    logits: ArrayView2<T>,
    labels: ArrayView1<L>,
    weights: ArrayView1<T>,
    out: ArrayViewMut1<T>,
    smoothing: f64,
    ignored: i64,
) {
    let labels = WeightedLabels { labels, weights, classes: logits.ncols(), ignored };
    with_scratch([logits.nrows()], |[losses]: [&mut [T::Compute]; 1]| {
        losses_of(logits, labels, smoothing, T::Compute::ONE, losses);
        write(out, |out| T::narrow_slice(losses, out));
    });
}

fn cross_entropy_each_gradient<T: Real, L: Label + Element>(
    rule: CrossEntropyEachGradient<'_, T, L>,
) -> dahl::Result<()> {
    rule.scope.refuse(rule.by_weights);
    let CrossEntropyEachGradient {
        logits,
        labels,
        weights,
        gradient,
        by_logits,
        smoothing,
        ignored,
        scope,
        ..
    } = rule;
    let Some(by_logits) = by_logits else { return Ok(()) };
    let of_one = cross_entropy_weighted_backward_init(
        scope,
        logits,
        labels,
        weights,
        smoothing,
        ignored,
        LossReduction::Sum,
        1.0,
    )?;
    *by_logits = super::mul_init(scope, &of_one, &*gradient.reshaped([labels.len(), 1])?)?;
    Ok(())
}

/// Writes the loss of each sample, times `scale`. That goes in before the logarithms, since the product of the others
/// could overflow.
#[inline(always)]
fn losses_of<T: Real, L: Label + Element>(
    logits: ArrayView2<'_, T>,
    labels: WeightedLabels<'_, T, L>,
    smoothing: f64,
    scale: T::Compute,
    losses: &mut [T::Compute],
) {
    let (samples, classes) = logits.dim();
    let target = scale * T::Compute::from_f64(1.0 - smoothing);
    let others = scale * T::Compute::from_f64(smoothing / classes as f64);
    let block = samples_at_a_time(samples, classes);
    with_scratch([block * classes], |[rows]: [&mut [T::Compute]; 1]| {
        for (number, losses) in losses.chunks_mut(block).enumerate() {
            let first = number * block;
            let rows = &mut rows[..losses.len() * classes];
            widen(logits.slice(s![first..first + losses.len(), ..]), rows);
            log_softmax_lanes(rows, classes.max(1));
            for (i, loss) in losses.iter_mut().enumerate() {
                let row = &mut rows[i * classes..][..classes];
                *loss = T::Compute::ZERO;
                let Some(class) = labels.class(first + i) else { continue };
                *loss = -(target * labels.weight(class) * row[class]);
                // Without smoothing the others have no part, even if their logarithms are infinite.
                if smoothing > 0.0 {
                    for (class, value) in row.iter_mut().enumerate() {
                        *value *= others * labels.weight(class);
                    }
                    *loss -= simd::sum(row);
                }
            }
        }
    });
}

/// The gradient of [`cross_entropy_weighted`] by its logits: for each sample,
/// `out[j] = scale * (sum of (weights * target) * softmax(logits)[j] - weights[j] * target[j])`, and 0 where the label
/// is `ignored`.
///
/// # Shapes
/// `logits` and `out: [batch, classes]`, `labels: [batch]`, `weights: [classes]`, or `[1]` for a weight of all classes.
#[codelet(
    R, R, R, W,
    shape(out = logits),
    check(logits.nrows() == labels.len()),
    check(weigh(weights.len(), logits.ncols())),
    check(is_smoothing(smoothing)),
    flops = 6 * logits.len(),
    cuda = crate::kernels::CROSS_ENTROPY_WEIGHTED_BACKWARD,
    gradient = cross_entropy_weighted_backward_gradient(logits, labels, weights),
    reference = crate::reference::cross_entropy_weighted::cross_entropy_weighted_backward,
    error = sum(
        n = logits.len() + 16,
        terms = crate::reference::cross_entropy_weighted::cross_entropy_weighted_backward_terms
    )
)]
pub fn cross_entropy_weighted_backward<T: Real, L: Label + Element>(
    logits: ArrayView2<T>,
    labels: ArrayView1<L>,
    weights: ArrayView1<T>,
    out: ArrayViewMut2<T>,
    smoothing: f64,
    ignored: i64,
    reduction: LossReduction,
    factor: f64,
) {
    let (samples, classes) = logits.dim();
    let labels = WeightedLabels { labels, weights, classes, ignored };
    let target = T::Compute::from_f64(1.0 - smoothing);
    let others = T::Compute::from_f64(smoothing / classes as f64);
    let of_all = others * labels.of_all_classes();
    let block = samples_at_a_time(samples, classes);
    with_scratch([block * classes, samples], |[rows, sums]: [&mut [T::Compute]; 2]| {
        let scale = labels.scale(reduction, factor, sums);
        write(out, |out| {
            for first in (0..samples).step_by(block) {
                let count = block.min(samples - first);
                let rows = &mut rows[..count * classes];
                widen(logits.slice(s![first..first + count, ..]), rows);
                softmax_lanes(rows, classes.max(1));
                for sample in first..first + count {
                    let row = &mut rows[(sample - first) * classes..][..classes];
                    let Some(class) = labels.class(sample) else {
                        row.fill(T::Compute::ZERO);
                        continue;
                    };
                    let of_label = target * labels.weight(class);
                    if smoothing > 0.0 {
                        let of_sample = of_label + of_all;
                        for (class, value) in row.iter_mut().enumerate() {
                            *value = of_sample * *value - others * labels.weight(class);
                        }
                        row[class] -= of_label;
                        row.iter_mut().for_each(|value| *value *= scale);
                    } else {
                        subtract_target(row, class);
                        row.iter_mut().for_each(|value| *value *= of_label * scale);
                    }
                }
                T::narrow_slice(rows, &mut out[first * classes..][..count * classes]);
            }
        });
    });
}

fn cross_entropy_weighted_backward_gradient<T: Real, L: Label + Element>(
    rule: CrossEntropyWeightedBackwardGradient<'_, T, L>,
) -> dahl::Result<()> {
    rule.scope.refuse(rule.by_weights);
    // The targets only shift it: what is left is the gradient of a softmax.
    let CrossEntropyWeightedBackwardGradient { logits, labels, weights, gradient, by_logits, scope, .. } =
        rule;
    let (smoothing, ignored, reduction, factor) = (rule.smoothing, rule.ignored, rule.reduction, rule.factor);
    let Some(by_logits) = by_logits else { return Ok(()) };
    let probabilities = super::softmax_init(scope, logits, 1)?;
    let of_one = super::softmax_backward_init(scope, &probabilities, gradient, 1)?;
    let [_, classes] = logits.shape();
    let weight =
        super::label_weight_init(scope, labels, weights, classes, smoothing, ignored, reduction, factor)?;
    *by_logits = super::mul_init(scope, &of_one, &*weight.reshaped([labels.len(), 1])?)?;
    Ok(())
}

/// Subtracts 1 from the probability of `class`. Where that is most of it, what is left is the sum of the other
/// probabilities, which have all their digits.
#[inline(always)]
fn subtract_target<C: Real<Compute = C>>(probabilities: &mut [C], class: usize) {
    let probability = std::mem::replace(&mut probabilities[class], C::ZERO);
    let is_likely = probability + probability > C::ONE;
    probabilities[class] = if is_likely { -simd::sum(probabilities) } else { probability - C::ONE };
}

#[inline(always)]
fn widen<T: Real>(from: ArrayView2<'_, T>, to: &mut [T::Compute]) {
    match from.as_slice() {
        Some(from) => T::widen_slice(from, to),
        None => to.iter_mut().zip(from).for_each(|(to, from)| *to = from.widen()),
    }
}
