//! Losses, with PyTorch's definitions, parameters and defaults.
//!
//! | loss | of |
//! |---|---|
//! | [`CrossEntropy`], [`WeightedCrossEntropy`] | logits and labels |
//! | [`Nll`] | logarithms of probabilities, and labels |
//! | [`Bce`], [`BceWithLogits`] | probabilities or logits, and probabilities |
//! | [`Mse`], [`L1`], [`Huber`], [`SmoothL1`] | numbers |
//! | [`KlDiv`] | logarithms of probabilities, and probabilities |
//! | [`HingeEmbedding`], [`CosineEmbedding`] | distances or pairs of vectors, that are alike or not |
//! | [`Ctc`] | sequences, and shorter ones |
//!
//! Each has the methods `mean`, `sum` and `each`, which are PyTorch's reductions; where they work element by element,
//! they are those of the trait [`ElementwiseLoss`]. The trait [`Loss`] is what a trainer of classifiers takes.

mod binary_cross_entropy;
mod cross_entropy;
mod ctc;
mod elementwise;
mod embedding;
mod kl_div;
mod labels;
mod nll;
mod regression;

use dahl::prelude::*;

use crate::step::Step;

pub use binary_cross_entropy::{Bce, BceWithLogits, PositiveWeight};
pub use cross_entropy::{CrossEntropy, WeightedCrossEntropy};
pub use ctc::{Ctc, CtcTargets};
pub use elementwise::ElementwiseLoss;
pub use embedding::{CosineEmbedding, HingeEmbedding};
pub use kl_div::KlDiv;
pub use nll::Nll;
pub use regression::{Huber, L1, Mse, SmoothL1};

/// A loss of a classifier: how wrong the output of a network is, given the classes of the samples.
///
/// The method receives a part of a batch at a time. `factor` is the weight of each sample, one over the number of
/// samples of the whole batch, so that the parts add up to the mean.
pub trait Loss<T: Real>: Send + Sync {
    /// The sum of the losses of the samples, each times `factor`. Its gradient is that of the operations.
    ///
    /// # Shapes
    /// `output: [batch, classes]`, `labels: [batch]`.
    ///
    /// # Errors
    /// Those of the operations that it submits.
    fn of<'s>(
        &self,
        step: &'s Step<'_>,
        output: &Matrix<'_, T>,
        labels: &Vector<'_, u32>,
        factor: f64,
    ) -> dahl::Result<Scalar<'s, T>>;
}

/// A borrowed loss.
impl<T: Real, L: Loss<T> + ?Sized> Loss<T> for &L {
    fn of<'s>(
        &self,
        step: &'s Step<'_>,
        output: &Matrix<'_, T>,
        labels: &Vector<'_, u32>,
        factor: f64,
    ) -> dahl::Result<Scalar<'s, T>> {
        (**self).of(step, output, labels, factor)
    }
}
