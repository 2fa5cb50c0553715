//! [`CrossEntropy`]: the loss for classification.

use dahl::ops;
use dahl::prelude::*;

use super::Loss;

/// `ln(sum of exp(logits[j])) - logits[label]`, the cross-entropy of softmax and label; PyTorch's `CrossEntropyLoss`.
#[derive(Clone, Copy, Debug, Default)]
pub struct CrossEntropy;

impl<T: Real> Loss<T> for CrossEntropy {
    fn add_to(
        &self,
        _: &Arena,
        total: &mut Scalar<'_, T>,
        output: &Matrix<'_, T>,
        labels: &Vector<'_, u32>,
        factor: f64,
    ) -> dahl::Result<()> {
        ops::cross_entropy(output, labels, total, factor)
    }

    fn gradient<'s>(
        &self,
        step: &'s Arena,
        output: &Matrix<'_, T>,
        labels: &Vector<'_, u32>,
        factor: f64,
    ) -> dahl::Result<Matrix<'s, T>> {
        ops::cross_entropy_backward_init(step, output, labels, factor)
    }
}
