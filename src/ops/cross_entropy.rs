//! Cross-entropy of logits with integer labels, its gradient, and the number of correct predictions.
//!
//! The loss of one sample is `ln(sum of exp(logits[j])) - logits[label]`, computed as
//! [`log_softmax`](super::log_softmax) is, so that it neither overflows nor loses digits. `factor` is the weight of
//! each sample: `1 / batch` gives the mean over a batch, also when the batch is processed in parts, each with the whole
//! batch's factor.

use dahl::ndarray::{ArrayView1, ArrayView2, ArrayViewMut0, ArrayViewMut2, s};
use dahl::prelude::*;
use dahl::simd;

use super::arg_extreme::first_maximum;
use super::label::{Label, class_of};
use super::softmax::{log_softmax_lanes, softmax_lanes};
use crate::cpu::row_major::{elements, row_major, write};
use crate::cpu::scratch::with_scratch;

/// Adds to `out` the cross-entropy of all samples, `factor * sum of (ln(sum of exp(logits[i, j])) - logits[i, labels[i]])`.
///
/// A label that is not below the number of classes fails the task.
///
/// # Shapes
/// `logits: [batch, classes]`, `labels: [batch]`, `out: []`.
#[codelet(
    R, R, REDUX,
    shape(out = []),
    check(logits.nrows() == labels.len()),
    flops = 5 * logits.len(),
    cuda = crate::kernels::CROSS_ENTROPY,
    gradient = cross_entropy_gradient(logits, labels),
    reference = crate::reference::cross_entropy::cross_entropy,
    error = sum(n = logits.len() + 16, terms = crate::reference::cross_entropy::cross_entropy_terms)
)]
pub fn cross_entropy<T: Real, L: Label + Element>(
    logits: ArrayView2<T>,
    labels: ArrayView1<L>,
    mut out: ArrayViewMut0<T::Compute>,
    factor: f64,
) {
    let (samples, classes) = logits.dim();
    let block = samples_at_a_time(samples, classes);
    with_scratch([block * classes, samples], |[rows, losses]: [&mut [T::Compute]; 2]| {
        for (number, losses) in losses.chunks_mut(block).enumerate() {
            let first = number * block;
            let rows = &mut rows[..losses.len() * classes];
            widen(logits.slice(s![first..first + losses.len(), ..]), rows);
            log_softmax_lanes(rows, classes.max(1));
            for (i, loss) in losses.iter_mut().enumerate() {
                *loss = -rows[i * classes + class_of(labels[first + i], first + i, classes)];
            }
        }
        out[[]] += <T::Compute as Real>::from_f64(factor) * simd::sum(losses);
    });
}

fn cross_entropy_gradient<T: Real, L: Label + Element>(
    rule: CrossEntropyGradient<'_, T, L>,
) -> dahl::Result<()> {
    let Some(by_logits) = rule.by_logits else { return Ok(()) };
    let of_one = cross_entropy_backward_init(rule.scope, rule.logits, rule.labels, rule.factor)?;
    *by_logits = super::mul_init(rule.scope, &of_one, &*rule.gradient.reshaped([1, 1])?)?;
    Ok(())
}

/// The gradient of [`cross_entropy`] by its logits: `out[i, j] = factor * (softmax(logits[i])[j] - (labels[i] == j))`.
///
/// A label that is not below the number of classes fails the task.
///
/// # Shapes
/// `logits` and `out: [batch, classes]`, `labels: [batch]`.
#[codelet(
    R, R, W,
    shape(out = logits),
    check(logits.nrows() == labels.len()),
    flops = 5 * logits.len(),
    cuda = crate::kernels::CROSS_ENTROPY_BACKWARD,
    gradient = cross_entropy_backward_gradient(logits),
    reference = crate::reference::cross_entropy::cross_entropy_backward,
    error = sum(n = logits.ncols() + 16, terms = crate::reference::cross_entropy::cross_entropy_backward_terms)
)]
pub fn cross_entropy_backward<T: Real, L: Label + Element>(
    logits: ArrayView2<T>,
    labels: ArrayView1<L>,
    out: ArrayViewMut2<T>,
    factor: f64,
) {
    let (samples, classes) = logits.dim();
    let factor = <T::Compute as Real>::from_f64(factor);
    let block = samples_at_a_time(samples, classes);
    with_scratch([block * classes], |[rows]: [&mut [T::Compute]; 1]| {
        write(out, |out| {
            for first in (0..samples).step_by(block) {
                let count = block.min(samples - first);
                let rows = &mut rows[..count * classes];
                widen(logits.slice(s![first..first + count, ..]), rows);
                softmax_lanes(rows, classes.max(1));
                for sample in first..first + count {
                    let class = class_of(labels[sample], sample, classes);
                    subtract_target(&mut rows[(sample - first) * classes..][..classes], class);
                }
                for value in &mut *rows {
                    *value *= factor;
                }
                T::narrow_slice(rows, &mut out[first * classes..][..count * classes]);
            }
        });
    });
}

fn cross_entropy_backward_gradient<T: Real, L: Label + Element>(
    rule: CrossEntropyBackwardGradient<'_, T, L>,
) -> dahl::Result<()> {
    // The labels only shift it: what is left is the gradient of a softmax.
    let Some(by_logits) = rule.by_logits else { return Ok(()) };
    let probabilities = super::softmax_init(rule.scope, rule.logits, 1)?;
    let of_one = super::softmax_backward_init(rule.scope, &probabilities, rule.gradient, 1)?;
    *by_logits = super::scale_init(rule.scope, &of_one, T::from_f64(rule.factor))?;
    Ok(())
}

/// How many of the samples are in scratch memory at once: so many that their logits stay in a core's cache.
pub(super) fn samples_at_a_time(samples: usize, classes: usize) -> usize {
    const LOGITS: usize = 16 * 1024;
    (LOGITS / classes.max(1)).clamp(1, samples.max(1))
}

/// Subtracts 1 from the probability of `class`. Where that is most of it, what is left is the sum of the other
/// probabilities, which have all their digits.
#[inline(always)]
pub(super) fn subtract_target<C: Real<Compute = C>>(probabilities: &mut [C], class: usize) {
    let probability = std::mem::replace(&mut probabilities[class], C::ZERO);
    let is_likely = probability + probability > C::ONE;
    probabilities[class] = if is_likely { -simd::sum(probabilities) } else { probability - C::ONE };
}

#[inline(always)]
pub(super) fn widen<T: Real>(from: ArrayView2<'_, T>, to: &mut [T::Compute]) {
    match from.as_slice() {
        Some(from) => T::widen_slice(from, to),
        None => to.iter_mut().zip(from).for_each(|(to, from)| *to = from.widen()),
    }
}

/// Adds to `out` the number of samples whose largest logit is at their label. The first of equal logits counts, as in
/// [`arg_max`](super::arg_max).
///
/// A label that is not below the number of classes fails the task.
///
/// # Shapes
/// `logits: [batch, classes]`, `labels: [batch]`, `out: []`.
#[codelet(
    R, R, REDUX,
    shape(out = []),
    check(logits.nrows() == labels.len()),
    cuda = crate::kernels::COUNT_CORRECT,
    gradient = none,
    reference = crate::reference::cross_entropy::count_correct,
    error = rounded
)]
pub fn count_correct<T: Real, L: Label + Element>(
    logits: ArrayView2<T>,
    labels: ArrayView1<L>,
    mut out: ArrayViewMut0<u32>,
) {
    let classes = logits.ncols();
    let logits = row_major(&logits);
    let rows = (0..labels.len()).map(|sample| &elements(&logits)[sample * classes..][..classes]);
    for (sample, (row, &label)) in rows.zip(&labels).enumerate() {
        let predicted = first_maximum(row);
        out[[]] += u32::from(predicted == class_of(label, sample, classes));
    }
}
