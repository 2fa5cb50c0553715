//! What each sample of a classification counts in a loss: the weight of its class, or nothing if its label is ignored.

use dahl::ndarray::{ArrayView1, ArrayViewMut1};
use dahl::prelude::*;
use dahl::simd;

use super::label::{Label, class_of};

/// How the losses of samples become one number. Both are multiplied by a factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Argument)]
#[repr(u8)]
pub enum LossReduction {
    /// Their sum.
    Sum,
    /// Their sum, divided by the sum of the weights of their classes; NaN if that is 0.
    Mean,
}

/// Whether `weights` has one element for each of `classes`, or one for all of them.
pub(super) fn weigh(weights: usize, classes: usize) -> bool {
    weights == classes || weights == 1
}

/// Whether it is a part of a probability that can be given to all classes alike.
pub(super) fn is_smoothing(smoothing: f64) -> bool {
    (0.0..=1.0).contains(&smoothing)
}

/// The labels of samples, with the weights of the classes.
#[derive(Clone, Copy)]
pub(super) struct WeightedLabels<'a, T: Real, L: Label> {
    pub(super) labels: ArrayView1<'a, L>,
    /// One for each class, or one for all.
    pub(super) weights: ArrayView1<'a, T>,
    pub(super) classes: usize,
    /// The label of samples that do not count.
    pub(super) ignored: i64,
}

impl<T: Real, L: Label> WeightedLabels<'_, T, L> {
    /// The weight of a class.
    #[inline(always)]
    pub(super) fn weight(&self, class: usize) -> T::Compute {
        self.weights[if self.weights.len() == 1 { 0 } else { class }].widen()
    }

    /// The class of a sample, if it counts.
    ///
    /// # Panics
    /// If it counts and is not one of the classes.
    #[inline(always)]
    pub(super) fn class(&self, sample: usize) -> Option<usize> {
        let label = self.labels[sample];
        if label.is_number(self.ignored) { None } else { Some(class_of(label, sample, self.classes)) }
    }

    /// The sum of the weights of all classes.
    pub(super) fn of_all_classes(&self) -> T::Compute {
        if self.weights.len() == 1 {
            return self.weight(0) * T::Compute::from_f64(self.classes as f64);
        }
        self.weights.iter().fold(T::Compute::ZERO, |sum, weight| sum + weight.widen())
    }

    /// What the losses of the samples are multiplied by. `sums` is as long as the labels, with unspecified contents.
    pub(super) fn scale(&self, reduction: LossReduction, factor: f64, sums: &mut [T::Compute]) -> T::Compute {
        let factor = T::Compute::from_f64(factor);
        if reduction == LossReduction::Sum {
            return factor;
        }
        for (sample, weight) in sums.iter_mut().enumerate() {
            *weight = self.class(sample).map_or(T::Compute::ZERO, |class| self.weight(class));
        }
        factor / simd::sum(sums)
    }
}

/// The weight of the probabilities of each sample in the gradient of a cross-entropy: `factor` times the sum of
/// `weights`, each times the target probability of its class, and divided by the sum of the weights of the labels if
/// the reduction is a mean; 0 if the label is ignored.
///
/// # Shapes
/// `labels` and `out: [batch]`, `weights: [classes]` or `[1]`.
#[codelet(
    R, R, W,
    shape(out = labels),
    check(weigh(weights.len(), classes)),
    check(is_smoothing(smoothing)),
    cuda = crate::kernels::LABEL_WEIGHT,
    gradient = none,
    reference = crate::reference::cross_entropy_weighted::label_weight,
    error = sum(n = labels.len() + classes + 8, terms = crate::reference::cross_entropy_weighted::label_weight)
)]
pub fn label_weight<T: Real, L: Label + Element>(
    labels: ArrayView1<L>,
    weights: ArrayView1<T>,
    mut out: ArrayViewMut1<T>,
    classes: usize,
    smoothing: f64,
    ignored: i64,
    reduction: LossReduction,
    factor: f64,
) {
    let labels = WeightedLabels { labels, weights, classes, ignored };
    let target = T::Compute::from_f64(1.0 - smoothing);
    let all = labels.of_all_classes() * T::Compute::from_f64(smoothing / classes as f64);
    let scale = crate::cpu::scratch::with_scratch([out.len()], |[sums]: [&mut [T::Compute]; 1]| {
        labels.scale(reduction, factor, sums)
    });
    for (sample, out) in out.iter_mut().enumerate() {
        *out = match labels.class(sample) {
            Some(class) => T::narrow(scale * (target * labels.weight(class) + all)),
            None => T::ZERO,
        };
    }
}
