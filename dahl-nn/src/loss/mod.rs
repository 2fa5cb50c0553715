//! Losses: the trait [`Loss`], and [`CrossEntropy`].

mod cross_entropy;

use dahl::prelude::*;

use crate::step::Step;

pub use cross_entropy::CrossEntropy;

/// A loss of a classifier: how wrong the output of a network is, given the classes of the samples.
///
/// The method receives a part of a batch at a time. `factor` is the weight of each sample, one over the number of samples
/// of the whole batch, so that the parts add up to the mean.
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
