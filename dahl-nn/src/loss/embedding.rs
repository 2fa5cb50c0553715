//! Losses of pairs that are alike (target 1) or not (target -1): [`HingeEmbedding`] of distances, [`CosineEmbedding`]
//! of vectors.

use dahl::ops;
use dahl::prelude::*;

use super::ElementwiseLoss;
use crate::step::Step;

/// `output` where the target is 1, `max(0, margin - output)` where it is -1; PyTorch's `HingeEmbeddingLoss`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HingeEmbedding {
    /// The distance from which pairs that are not alike have no loss; 1 by default.
    pub margin: f64,
}

impl Default for HingeEmbedding {
    fn default() -> Self {
        Self { margin: 1.0 }
    }
}

impl<T: Real> ElementwiseLoss<T> for HingeEmbedding {
    #[track_caller]
    fn each<'s, const N: usize>(
        &self,
        step: &'s Step<'_>,
        output: &Array<'_, T, N>,
        target: &Array<'_, T, N>,
    ) -> dahl::Result<Array<'s, T, N>> {
        ops::hinge_embedding_init(step, output, target, self.margin)
    }
}

/// With the cosine of the angle between two vectors: `1 - cosine` where the target is 1, `max(0, cosine - margin)`
/// where it is -1; PyTorch's `CosineEmbeddingLoss`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CosineEmbedding {
    /// The cosine up to which pairs that are not alike have no loss; 0 by default.
    pub margin: f64,
}

impl CosineEmbedding {
    /// The loss of each pair, PyTorch's `reduction="none"`.
    ///
    /// # Shapes
    /// `left` and `right: [batch, features]`, `target` and the result: `[batch]`.
    ///
    /// # Errors
    /// Those of the operation.
    #[track_caller]
    pub fn each<'s, T: Real>(
        &self,
        step: &'s Step<'_>,
        left: &Matrix<'_, T>,
        right: &Matrix<'_, T>,
        target: &Vector<'_, T>,
    ) -> dahl::Result<Vector<'s, T>> {
        ops::cosine_embedding_init(step, left, right, target, self.margin)
    }

    /// The sum over all pairs, PyTorch's `reduction="sum"`. Shapes and errors as for [`each`](Self::each).
    #[track_caller]
    pub fn sum<'s, T: Real>(
        &self,
        step: &'s Step<'_>,
        left: &Matrix<'_, T>,
        right: &Matrix<'_, T>,
        target: &Vector<'_, T>,
    ) -> dahl::Result<Scalar<'s, T>> {
        ops::sum_init(step, &self.each(step, left, right, target)?)
    }

    /// The mean over all pairs, PyTorch's default. Shapes and errors as for [`each`](Self::each).
    #[track_caller]
    pub fn mean<'s, T: Real>(
        &self,
        step: &'s Step<'_>,
        left: &Matrix<'_, T>,
        right: &Matrix<'_, T>,
        target: &Vector<'_, T>,
    ) -> dahl::Result<Scalar<'s, T>> {
        ops::mean_init(step, &self.each(step, left, right, target)?)
    }
}
