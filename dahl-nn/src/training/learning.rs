//! [`Learning`]: what a trainer does with each part of a batch.

use dahl::ops;
use dahl::prelude::*;

use crate::loader::{Part, Source};
use crate::loss::Loss;
use crate::module::Module;
use crate::sequential::Sequential;
use crate::step::Step;

/// The samples of a part, and of the batch that it belongs to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share {
    pub(super) samples: usize,
    pub(super) of: usize,
}

/// What a trainer does with each part of a batch: a [`Sequential`] is trained by a loss, any module by a function.
pub(super) trait Learning<T: Real, M, S: Source<T>> {
    /// Whether [`loss`](Self::loss) counts the samples whose label is predicted.
    const COUNTS: bool;

    /// The part's contribution to the mean loss of a sample of the batch.
    fn loss<'s>(
        &self,
        step: &'s Step<'_>,
        model: &M,
        part: &S::Part<'_>,
        share: Share,
        correct: &mut Scalar<'_, u32>,
    ) -> dahl::Result<Scalar<'s, T>>;
}

/// Trains a classifier by a loss of its output and the labels.
pub(super) struct ByLoss<'l, L>(pub(super) &'l L);

impl<'m, T: Real, L: Loss<T>, S> Learning<T, Sequential<'m, T>, S> for ByLoss<'_, L>
where
    S: for<'s> Source<T, Part<'s> = Part<'s, T>>,
{
    const COUNTS: bool = true;

    fn loss<'s>(
        &self,
        step: &'s Step<'_>,
        model: &Sequential<'m, T>,
        part: &Part<'_, T>,
        share: Share,
        correct: &mut Scalar<'_, u32>,
    ) -> dahl::Result<Scalar<'s, T>> {
        let output = model.forward(step, &part.features)?;
        let loss = self.0.of(step, &output, &part.labels, 1.0 / share.of as f64)?;
        ops::count_correct(&output, &part.labels, correct)?;
        Ok(loss)
    }
}

/// Trains by a function that returns the mean loss of the samples of the part.
pub(super) struct ByFunction<F>(pub(super) F);

impl<T: Real, M: Module<T>, S: Source<T>, F> Learning<T, M, S> for ByFunction<F>
where
    F: for<'s> Fn(&'s Step<'_>, &M, &S::Part<'_>) -> dahl::Result<Scalar<'s, T>>,
{
    const COUNTS: bool = false;

    fn loss<'s>(
        &self,
        step: &'s Step<'_>,
        model: &M,
        part: &S::Part<'_>,
        share: Share,
        _: &mut Scalar<'_, u32>,
    ) -> dahl::Result<Scalar<'s, T>> {
        let loss = (self.0)(step, model, part)?;
        if share.samples == share.of {
            return Ok(loss);
        }
        ops::scale_init(step, &loss, T::from_f64(share.samples as f64 / share.of as f64))
    }
}
