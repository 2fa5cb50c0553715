//! [`Nll`]: the negative log-likelihood.

use dahl::ops::{self, LossReduction};
use dahl::prelude::*;

use super::Loss;
use super::labels::Labels;
use crate::step::Step;

/// `-weights[label] * output[label]`, where the output is the logarithm of probabilities, as from a log-softmax;
/// PyTorch's `NLLLoss`.
///
/// As in PyTorch, the mean divides by the sum of the weights of the labels that count; it is NaN if none does. As the
/// [`Loss`] of a trainer, which passes parts of a batch, it divides by the number of samples instead.
///
/// ```
/// use dahl::prelude::*;
/// use dahl_nn::loss::Nll;
/// use dahl_nn::prelude::*;
///
/// # fn main() -> dahl::Result<()> {
/// let rt = Runtime::new()?;
/// let step = Step::learning(&rt);
/// let output = rt.from_vec([2, 2], vec![-1.0_f32, -0.5, -2.0, -0.25])?;
/// let labels = rt.from_vec([2], vec![1_u32, 0])?;
/// assert_eq!(Nll::new().mean(&step, &output, &labels)?.to_vec()?, [1.25]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Nll<'w, T: Real> {
    labels: Labels<'w, T>,
}

impl<T: Real> Default for Nll<'_, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'w, T: Real> Nll<'w, T> {
    /// The loss with a weight of 1 for each class, and no label that is ignored.
    pub fn new() -> Self {
        Self { labels: Labels::default() }
    }

    /// Multiplies the loss of each class by a weight, PyTorch's `weight`. There is no gradient by the weights.
    ///
    /// # Shapes
    /// `weights: [classes]`.
    pub fn weights(mut self, weights: &'w Vector<'w, T>) -> Self {
        self.labels.weights = Some(weights);
        self
    }

    /// Samples with this label do not count, PyTorch's `ignore_index`.
    pub fn ignore(mut self, label: u32) -> Self {
        self.labels.ignored = Some(label);
        self
    }

    /// The sum over all samples, divided by the sum of the weights of the labels that count.
    ///
    /// # Shapes
    /// `output: [batch, classes]`, `labels: [batch]`.
    ///
    /// # Errors
    /// Those of the operation. A label that counts and is no class fails the task.
    #[track_caller]
    pub fn mean<'s>(
        &self,
        step: &'s Step<'_>,
        output: &Matrix<'_, T>,
        labels: &Vector<'_, u32>,
    ) -> dahl::Result<Scalar<'s, T>> {
        self.reduced(step, output, labels, LossReduction::Mean, 1.0)
    }

    /// The sum over all samples. Shapes and errors as for [`mean`](Self::mean).
    #[track_caller]
    pub fn sum<'s>(
        &self,
        step: &'s Step<'_>,
        output: &Matrix<'_, T>,
        labels: &Vector<'_, u32>,
    ) -> dahl::Result<Scalar<'s, T>> {
        self.reduced(step, output, labels, LossReduction::Sum, 1.0)
    }

    /// The loss of each sample, 0 where the label is ignored; PyTorch's `reduction="none"`. Shapes and errors as for
    /// [`mean`](Self::mean).
    #[track_caller]
    pub fn each<'s>(
        &self,
        step: &'s Step<'_>,
        output: &Matrix<'_, T>,
        labels: &Vector<'_, u32>,
    ) -> dahl::Result<Vector<'s, T>> {
        let ignored = self.labels.ignored();
        self.labels.with_weights(step, |weights| ops::nll_each_init(step, output, labels, weights, ignored))
    }

    #[track_caller]
    fn reduced<'s>(
        &self,
        step: &'s Step<'_>,
        output: &Matrix<'_, T>,
        labels: &Vector<'_, u32>,
        reduction: LossReduction,
        factor: f64,
    ) -> dahl::Result<Scalar<'s, T>> {
        let ignored = self.labels.ignored();
        self.labels.with_weights(step, |weights| {
            ops::nll_init(step, output, labels, weights, ignored, reduction, factor)
        })
    }
}

impl<T: Real> Loss<T> for Nll<'_, T> {
    fn of<'s>(
        &self,
        step: &'s Step<'_>,
        output: &Matrix<'_, T>,
        labels: &Vector<'_, u32>,
        factor: f64,
    ) -> dahl::Result<Scalar<'s, T>> {
        self.reduced(step, output, labels, LossReduction::Sum, factor)
    }
}
