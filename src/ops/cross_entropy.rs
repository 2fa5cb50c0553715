//! Cross-entropy of logits with integer labels, its gradient, and the number of correct predictions.
//!
//! The loss of one sample is `ln(sum of exp(logits[j])) - logits[label]`, computed as
//! [`log_softmax`](super::log_softmax) is, so that it neither overflows nor loses digits. `factor` is the weight of
//! each sample: `1 / batch` gives the mean over a batch, also when the batch is processed in parts, each with the whole
//! batch's factor.

use dahl::ndarray::{ArrayView1, ArrayView2, ArrayViewMut0, ArrayViewMut2};
use dahl::prelude::*;
use dahl::simd;

use super::arg_extreme::first_maximum;
use super::label::{Label, class_of};
use super::softmax::{exponentiate, log_softmax_lanes};
use crate::cpu::gemm::Cores;
use crate::cpu::log_sum_exp::{self, log_sum_exp};
use crate::cpu::row_major::{elements, row_major, write};
use crate::cpu::scratch::with_scratch;
use crate::cpu::shared_rows::share_rows;

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
    parallel = cross_entropy_on_cores,
    cuda = crate::kernels::CROSS_ENTROPY,
    gradient = cross_entropy_gradient(logits, labels),
    reference = crate::reference::cross_entropy::cross_entropy,
    error = sum(n = logits.len() + 16, terms = crate::reference::cross_entropy::cross_entropy_terms)
)]
pub fn cross_entropy<T: Real, L: Label + Element>(
    logits: ArrayView2<T>,
    labels: ArrayView1<L>,
    out: ArrayViewMut0<T::Compute>,
    factor: f64,
) {
    losses_on(Cores::One, logits, labels, out, factor);
}

/// [`cross_entropy`] on several cores, which share the samples.
fn cross_entropy_on_cores<T: Real, L: Label + Element>(
    logits: ArrayView2<T>,
    labels: ArrayView1<L>,
    out: ArrayViewMut0<T::Compute>,
    factor: f64,
) {
    losses_on(Cores::Pool, logits, labels, out, factor);
}

fn losses_on<T: Real, L: Label + Element>(
    cores: Cores,
    logits: ArrayView2<'_, T>,
    labels: ArrayView1<'_, L>,
    mut out: ArrayViewMut0<'_, T::Compute>,
    factor: f64,
) {
    let (samples, classes) = logits.dim();
    let logits = row_major(&logits);
    with_scratch([samples], |[losses]: [&mut [T::Compute]; 1]| {
        share_rows(cores, [1, classes], losses, |samples, losses| {
            let logits = &elements(&logits)[samples.start * classes..samples.end * classes];
            simd::dispatch(Losses { logits, labels, classes, first: samples.start, losses });
        });
        out[[]] += <T::Compute as Real>::from_f64(factor) * simd::sum(losses);
    });
}

/// The losses of some samples.
struct Losses<'a, T: Real, L> {
    logits: &'a [T],
    /// Those of all samples.
    labels: ArrayView1<'a, L>,
    classes: usize,
    /// The number of the first sample.
    first: usize,
    losses: &'a mut [T::Compute],
}

impl<T: Real, L: Label + Element> simd::Vectorised for Losses<'_, T, L> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { logits, labels, classes, first, losses } = self;
        let class = |i: usize| class_of(labels[first + i], first + i, classes);
        if classes > log_sum_exp::BLOCK {
            for (i, (loss, row)) in losses.iter_mut().zip(logits.chunks_exact(classes)).enumerate() {
                let [largest, logarithm] = log_sum_exp(row);
                *loss = logarithm - (row[class(i)].widen() - largest);
            }
            return;
        }
        let block = samples_at_a_time(losses.len(), classes);
        with_scratch([block * classes], |[rows]: [&mut [T::Compute]; 1]| {
            for (number, losses) in losses.chunks_mut(block).enumerate() {
                let first = number * block;
                let rows = &mut rows[..losses.len() * classes];
                T::widen_slice(&logits[first * classes..][..rows.len()], rows);
                log_softmax_lanes(rows, classes.max(1));
                for (i, loss) in losses.iter_mut().enumerate() {
                    *loss = -rows[i * classes + class(first + i)];
                }
            }
        });
    }
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
    parallel = cross_entropy_backward_on_cores,
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
    gradients_on(Cores::One, logits, labels, out, factor);
}

/// [`cross_entropy_backward`] on several cores, which share the samples.
fn cross_entropy_backward_on_cores<T: Real, L: Label + Element>(
    logits: ArrayView2<T>,
    labels: ArrayView1<L>,
    out: ArrayViewMut2<T>,
    factor: f64,
) {
    gradients_on(Cores::Pool, logits, labels, out, factor);
}

fn gradients_on<T: Real, L: Label + Element>(
    cores: Cores,
    logits: ArrayView2<'_, T>,
    labels: ArrayView1<'_, L>,
    out: ArrayViewMut2<'_, T>,
    factor: f64,
) {
    let classes = logits.ncols();
    let logits = row_major(&logits);
    let factor = T::Compute::from_f64(factor);
    write(out, |out| {
        let whole_bytes = size_of_val(out);
        share_rows(cores, [classes; 2], out, |samples, out| {
            let logits = &elements(&logits)[samples.start * classes..samples.end * classes];
            simd::past_caches(out, whole_bytes, |out| {
                simd::dispatch(Gradients { logits, labels, classes, first: samples.start, factor, out });
            });
        });
    });
}

/// The gradients of the losses of some samples.
struct Gradients<'a, 'o, T: Real, L> {
    logits: &'a [T],
    /// Those of all samples.
    labels: ArrayView1<'a, L>,
    classes: usize,
    /// The number of the first sample.
    first: usize,
    factor: T::Compute,
    out: &'a mut simd::PastCaches<'o, T>,
}

impl<T: Real, L: Label + Element> simd::Vectorised for Gradients<'_, '_, T, L> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { logits, labels, classes, first, factor, out } = self;
        if classes > log_sum_exp::BLOCK {
            return with_scratch([classes], |[powers]: [&mut [T::Compute]; 1]| {
                for (i, logits) in logits.chunks_exact(classes).enumerate() {
                    let class = class_of(labels[first + i], first + i, classes);
                    long_gradient(logits, class, factor, powers, out);
                }
            });
        }
        let block = samples_at_a_time(logits.len() / classes, classes);
        with_scratch([block * classes], |[rows]: [&mut [T::Compute]; 1]| {
            for (number, logits) in logits.chunks(block * classes).enumerate() {
                let rows = &mut rows[..logits.len()];
                T::widen_slice(logits, rows);
                exponentiate(rows, classes);
                for (i, powers) in rows.chunks_exact_mut(classes).enumerate() {
                    let sample = first + number * block + i;
                    Target::of(powers, class_of(labels[sample], sample, classes)).subtract(powers, 0, factor);
                }
                out.narrow(rows);
            }
        });
    }
}

/// Writes the gradient of a sample of many classes, in blocks that stay in the first-level cache: a row in scratch memory is
/// written once and read twice, not for each of its loops.
#[inline(always)]
fn long_gradient<T: Real>(
    logits: &[T],
    class: usize,
    factor: T::Compute,
    powers: &mut [T::Compute],
    out: &mut simd::PastCaches<'_, T>,
) {
    let largest = simd::max(logits).widen();
    for (logits, powers) in logits.chunks(log_sum_exp::BLOCK).zip(powers.chunks_mut(log_sum_exp::BLOCK)) {
        T::widen_slice(logits, powers);
        T::Compute::exp_below_slice(powers, largest);
    }
    let target = Target::of(powers, class);
    for (number, powers) in powers.chunks_mut(log_sum_exp::BLOCK).enumerate() {
        target.subtract(powers, number * log_sum_exp::BLOCK, factor);
        out.narrow(powers);
    }
}

/// What the gradient of a sample needs, besides the exponentials of its logits.
struct Target<C> {
    class: usize,
    /// One divided by the sum of the exponentials.
    reciprocal: C,
    /// The gradient by the logit of the label, without the factor.
    of_class: C,
}

impl<C: Real<Compute = C>> Target<C> {
    /// That of a sample with these exponentials, of which the label's may become 0.
    ///
    /// Where the label has most of the probability, 1 less it is the sum of the other probabilities, which have all their
    /// digits.
    #[inline(always)]
    fn of(powers: &mut [C], class: usize) -> Self {
        let (total, power) = (simd::sum(&*powers), powers[class]);
        let (reciprocal, is_likely) = (total.recip(), power + power > total);
        let of_class = if is_likely {
            powers[class] = C::ZERO;
            -simd::sum(&*powers) * reciprocal
        } else {
            power * reciprocal - C::ONE
        };
        Self { class, reciprocal, of_class }
    }

    /// Replaces exponentials, from that of class number `first` on, by the gradient: `factor * (powers[j] / sum of powers - (j
    /// == class))`.
    #[inline(always)]
    fn subtract(&self, powers: &mut [C], first: usize, factor: C) {
        for power in &mut *powers {
            *power = *power * self.reciprocal * factor;
        }
        if let Some(power) = self.class.checked_sub(first).and_then(|place| powers.get_mut(place)) {
            *power = self.of_class * factor;
        }
    }
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
