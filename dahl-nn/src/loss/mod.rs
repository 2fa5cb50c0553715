//! Losses: the trait [`Loss`], and [`CrossEntropy`].

mod cross_entropy;

use dahl::prelude::*;

pub use cross_entropy::CrossEntropy;

/// A loss: how wrong a network's output is.
///
/// The methods receive a part of a batch at a time. `factor` is the weight of each sample, one over the number of
/// samples of the whole batch, so that the parts add up to the mean.
pub trait Loss<T: Real>: Send + Sync {
    /// Adds the loss of the samples, each times `factor`, to `total`. Temporary arrays live in `step`.
    ///
    /// # Shapes
    /// `output: [batch, classes]`, `labels: [batch]`, `total: []`.
    ///
    /// # Errors
    /// Those of the operations that it submits.
    fn add_to(
        &self,
        step: &Arena,
        total: &mut Scalar<'_, T>,
        output: &Matrix<'_, T>,
        labels: &Vector<'_, u32>,
        factor: f64,
    ) -> dahl::Result<()>;

    /// The gradient of the loss, each sample's times `factor`, by `output`.
    ///
    /// # Errors
    /// Those of the operations that it submits.
    fn gradient<'s>(
        &self,
        step: &'s Arena,
        output: &Matrix<'_, T>,
        labels: &Vector<'_, u32>,
        factor: f64,
    ) -> dahl::Result<Matrix<'s, T>>;
}

/// A borrowed loss.
impl<T: Real, L: Loss<T> + ?Sized> Loss<T> for &L {
    fn add_to(
        &self,
        step: &Arena,
        total: &mut Scalar<'_, T>,
        output: &Matrix<'_, T>,
        labels: &Vector<'_, u32>,
        factor: f64,
    ) -> dahl::Result<()> {
        (**self).add_to(step, total, output, labels, factor)
    }

    fn gradient<'s>(
        &self,
        step: &'s Arena,
        output: &Matrix<'_, T>,
        labels: &Vector<'_, u32>,
        factor: f64,
    ) -> dahl::Result<Matrix<'s, T>> {
        (**self).gradient(step, output, labels, factor)
    }
}
