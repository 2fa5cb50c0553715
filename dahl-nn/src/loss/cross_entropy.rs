//! [`CrossEntropy`]: the loss for classification.

use dahl::ops;
use dahl::prelude::*;

use super::Loss;
use crate::step::Step;

/// `ln(sum of exp(logits[j])) - logits[label]`, the cross-entropy of softmax and label; PyTorch's `CrossEntropyLoss`.
#[derive(Clone, Copy, Debug, Default)]
pub struct CrossEntropy;

impl CrossEntropy {
    /// The mean over all tokens of a batch of sequences.
    ///
    /// # Shapes
    /// `logits: [batch, tokens, vocabulary]`, `targets: [batch, tokens]`.
    ///
    /// # Errors
    /// If the shapes do not agree, and those of the operation. A target that is no index of the vocabulary fails the task.
    #[track_caller]
    pub fn of_tokens<'s, T: Real>(
        &self,
        step: &'s Step<'_>,
        logits: &Array<'_, T, 3>,
        targets: &Matrix<'_, u32>,
    ) -> dahl::Result<Scalar<'s, T>> {
        let [batch, tokens, vocabulary] = logits.shape();
        if targets.shape() != [batch, tokens] {
            let fact = format!("logits have shape {:?}, targets {:?}", logits.shape(), targets.shape());
            return Err(dahl::Error::invalid_shape("CrossEntropy", fact));
        }
        let logits = logits.reshaped([batch * tokens, vocabulary])?;
        ops::cross_entropy_init(step, &*logits, &*targets.flattened()?, 1.0 / (batch * tokens) as f64)
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
