//! [`CrossEntropy`], the loss for classification, and [`WeightedCrossEntropy`], which it becomes with options.

use dahl::ops::{self, LossReduction};
use dahl::prelude::*;

use super::Loss;
use super::labels::Labels;
use crate::step::Step;

/// `ln(sum of exp(logits[j])) - logits[label]`, the cross-entropy of softmax and label; PyTorch's `CrossEntropyLoss`.
///
/// Its options are methods: [`weights`](Self::weights), [`smoothing`](Self::smoothing) and [`ignore`](Self::ignore).
///
/// ```
/// use dahl::prelude::*;
/// use dahl_nn::prelude::*;
///
/// # fn main() -> dahl::Result<()> {
/// let rt = Runtime::new()?;
/// let step = Step::learning(&rt);
/// let logits = rt.from_vec([2, 2], vec![0.0_f32, 0.0, 3.0, 1.0])?;
/// let labels = rt.from_vec([2], vec![1_u32, 7])?;
/// let loss = CrossEntropy.smoothing(0.1).ignore(7).mean(&step, &logits, &labels)?;
/// assert_eq!(loss.to_vec()?, [2.0_f32.ln()]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct CrossEntropy;

impl CrossEntropy {
    /// Multiplies the loss of each class by a weight, PyTorch's `weight`. There is no gradient by the weights.
    ///
    /// # Shapes
    /// `weights: [classes]`.
    pub fn weights<'w, T: Real>(self, weights: &'w Vector<'w, T>) -> WeightedCrossEntropy<'w, T> {
        WeightedCrossEntropy::new().weights(weights)
    }

    /// Gives this part of each target's probability to all classes alike, PyTorch's `label_smoothing` (Szegedy et al.
    /// 2016,
    /// *Rethinking the Inception Architecture for Computer Vision*, section 7); from 0 to 1.
    pub fn smoothing<'w, T: Real>(self, smoothing: f64) -> WeightedCrossEntropy<'w, T> {
        WeightedCrossEntropy::new().smoothing(smoothing)
    }

    /// Samples with this label do not count, PyTorch's `ignore_index`.
    pub fn ignore<'w, T: Real>(self, label: u32) -> WeightedCrossEntropy<'w, T> {
        WeightedCrossEntropy::new().ignore(label)
    }

    /// The mean over all samples.
    ///
    /// # Shapes
    /// `logits: [batch, classes]`, `labels: [batch]`.
    ///
    /// # Errors
    /// Those of the operation. A label that is no class fails the task.
    #[track_caller]
    pub fn mean<'s, T: Real>(
        &self,
        step: &'s Step<'_>,
        logits: &Matrix<'_, T>,
        labels: &Vector<'_, u32>,
    ) -> dahl::Result<Scalar<'s, T>> {
        ops::cross_entropy_init(step, logits, labels, 1.0 / labels.len() as f64)
    }

    /// The sum over all samples. Shapes and errors as for [`mean`](Self::mean).
    #[track_caller]
    pub fn sum<'s, T: Real>(
        &self,
        step: &'s Step<'_>,
        logits: &Matrix<'_, T>,
        labels: &Vector<'_, u32>,
    ) -> dahl::Result<Scalar<'s, T>> {
        ops::cross_entropy_init(step, logits, labels, 1.0)
    }

    /// The loss of each sample, PyTorch's `reduction="none"`. Shapes and errors as for [`mean`](Self::mean).
    #[track_caller]
    pub fn each<'s, T: Real>(
        &self,
        step: &'s Step<'_>,
        logits: &Matrix<'_, T>,
        labels: &Vector<'_, u32>,
    ) -> dahl::Result<Vector<'s, T>> {
        WeightedCrossEntropy::new().each(step, logits, labels)
    }

    /// The mean over all tokens of a batch of sequences.
    ///
    /// # Shapes
    /// `logits: [batch, tokens, vocabulary]`, `targets: [batch, tokens]`.
    ///
    /// # Errors
    /// If the shapes do not agree, and those of the operation. A target that is no index of the vocabulary fails the
    /// task.
    #[track_caller]
    pub fn of_tokens<'s, T: Real>(
        &self,
        step: &'s Step<'_>,
        logits: &Array<'_, T, 3>,
        targets: &Matrix<'_, u32>,
    ) -> dahl::Result<Scalar<'s, T>> {
        let rows = rows_of_tokens(logits, targets)?;
        self.mean(step, &*logits.reshaped(rows)?, &*targets.flattened()?)
    }
}

impl<T: Real> Loss<T> for CrossEntropy {
    fn of<'s>(
        &self,
        step: &'s Step<'_>,
        output: &Matrix<'_, T>,
        labels: &Vector<'_, u32>,
        factor: f64,
    ) -> dahl::Result<Scalar<'s, T>> {
        ops::cross_entropy_init(step, output, labels, factor)
    }
}

/// The shape of the logits of all tokens, one after the other.
#[track_caller]
fn rows_of_tokens<T: Real>(logits: &Array<'_, T, 3>, targets: &Matrix<'_, u32>) -> dahl::Result<[usize; 2]> {
    let [batch, tokens, vocabulary] = logits.shape();
    if targets.shape() != [batch, tokens] {
        let fact = format!("logits have shape {:?}, targets {:?}", logits.shape(), targets.shape());
        return Err(dahl::Error::invalid_shape("CrossEntropy", fact));
    }
    Ok([batch * tokens, vocabulary])
}

/// [`CrossEntropy`] with weights of the classes, label smoothing, or an ignored label: the sum over the classes of
/// `-weights[j] * target[j] * ln(softmax(logits)[j])`, with
/// `target[j] = (1 - smoothing) * (label == j) + smoothing / classes`.
///
/// As in PyTorch, the mean divides by the sum of the weights of the labels that count; it is NaN if none does. As the
/// [`Loss`] of a trainer, which passes parts of a batch, it divides by the number of samples instead.
#[derive(Clone, Copy, Debug)]
pub struct WeightedCrossEntropy<'w, T: Real> {
    labels: Labels<'w, T>,
    smoothing: f64,
}

impl<'w, T: Real> WeightedCrossEntropy<'w, T> {
    fn new() -> Self {
        Self { labels: Labels::default(), smoothing: 0.0 }
    }

    /// As [`CrossEntropy::weights`].
    pub fn weights(mut self, weights: &'w Vector<'w, T>) -> Self {
        self.labels.weights = Some(weights);
        self
    }

    /// As [`CrossEntropy::smoothing`].
    pub fn smoothing(mut self, smoothing: f64) -> Self {
        self.smoothing = smoothing;
        self
    }

    /// As [`CrossEntropy::ignore`].
    pub fn ignore(mut self, label: u32) -> Self {
        self.labels.ignored = Some(label);
        self
    }

    /// The sum over all samples, divided by the sum of the weights of the labels that count.
    ///
    /// # Shapes
    /// `logits: [batch, classes]`, `labels: [batch]`.
    ///
    /// # Errors
    /// Those of the operation. A label that counts and is no class fails the task.
    #[track_caller]
    pub fn mean<'s>(
        &self,
        step: &'s Step<'_>,
        logits: &Matrix<'_, T>,
        labels: &Vector<'_, u32>,
    ) -> dahl::Result<Scalar<'s, T>> {
        self.reduced(step, logits, labels, LossReduction::Mean, 1.0)
    }

    /// The sum over all samples. Shapes and errors as for [`mean`](Self::mean).
    #[track_caller]
    pub fn sum<'s>(
        &self,
        step: &'s Step<'_>,
        logits: &Matrix<'_, T>,
        labels: &Vector<'_, u32>,
    ) -> dahl::Result<Scalar<'s, T>> {
        self.reduced(step, logits, labels, LossReduction::Sum, 1.0)
    }

    /// The loss of each sample, 0 where the label is ignored; PyTorch's `reduction="none"`. Shapes and errors as for
    /// [`mean`](Self::mean).
    #[track_caller]
    pub fn each<'s>(
        &self,
        step: &'s Step<'_>,
        logits: &Matrix<'_, T>,
        labels: &Vector<'_, u32>,
    ) -> dahl::Result<Vector<'s, T>> {
        self.labels.with_weights(step, |weights| {
            ops::cross_entropy_each_init(step, logits, labels, weights, self.smoothing, self.labels.ignored())
        })
    }

    /// The mean over all tokens of a batch of sequences that count.
    ///
    /// # Shapes
    /// `logits: [batch, tokens, vocabulary]`, `targets: [batch, tokens]`.
    ///
    /// # Errors
    /// If the shapes do not agree, and as [`mean`](Self::mean).
    #[track_caller]
    pub fn of_tokens<'s>(
        &self,
        step: &'s Step<'_>,
        logits: &Array<'_, T, 3>,
        targets: &Matrix<'_, u32>,
    ) -> dahl::Result<Scalar<'s, T>> {
        let rows = rows_of_tokens(logits, targets)?;
        self.mean(step, &*logits.reshaped(rows)?, &*targets.flattened()?)
    }

    #[track_caller]
    fn reduced<'s>(
        &self,
        step: &'s Step<'_>,
        logits: &Matrix<'_, T>,
        labels: &Vector<'_, u32>,
        reduction: LossReduction,
        factor: f64,
    ) -> dahl::Result<Scalar<'s, T>> {
        let (smoothing, ignored) = (self.smoothing, self.labels.ignored());
        self.labels.with_weights(step, |weights| {
            ops::cross_entropy_weighted_init(
                step, logits, labels, weights, smoothing, ignored, reduction, factor,
            )
        })
    }
}

impl<T: Real> Loss<T> for WeightedCrossEntropy<'_, T> {
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
