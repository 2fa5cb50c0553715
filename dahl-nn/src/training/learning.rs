//! [`Learning`]: what a trainer does with each part of a batch.

use std::cell::RefCell;

use dahl::ops;
use dahl::prelude::*;

use super::parallel::InFlight;
use crate::loader::{Part, Source};
use crate::loss::Loss;
use crate::metric_accumulator::MetricAccumulator;
use crate::module::Module;
use crate::optimizer::{LossScaler, Optimizer, clip_gradient_norm};
use crate::sequential::Sequential;
use crate::step::Step;

/// The samples of a part, and of the batch that it belongs to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share {
    /// The number of the part in its batch.
    pub(super) number: usize,
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

/// Submits the forward and backward pass of a part of a batch.
pub(super) fn learn_part<T: Real, M: Module<T>, S: Source<T>>(
    learning: &impl Learning<T, M, S>,
    step: &Step<'_>,
    model: &mut M,
    part: &S::Part<'_>,
    share: Share,
    metrics: &mut MetricAccumulator<'_, T>,
) -> dahl::Result<()> {
    let loss = learning.loss(step, model, part, share, &mut metrics.correct)?;
    metrics.add(&loss)?;
    step.accumulate(&loss, model)
}

/// Clips the gradients if there is a limit, and updates the parameters.
pub(super) fn update<T: Real>(
    model: &mut impl Module<T>,
    optimizer: &mut impl Optimizer<T>,
    max_norm: Option<f64>,
) -> dahl::Result<()> {
    if let Some(max_norm) = max_norm {
        clip_gradient_norm(model, max_norm)?;
    }
    optimizer.step(model)
}

/// As [`update`], from gradients of a scaled loss. Returns whether the parameters were updated.
pub(super) fn update_scaled<T: Real>(
    model: &mut impl Module<T>,
    optimizer: &mut impl Optimizer<T>,
    scaler: &mut LossScaler,
    max_norm: Option<f64>,
) -> dahl::Result<bool> {
    if let Some(max_norm) = max_norm {
        scaler.unscale(model)?;
        clip_gradient_norm(model, max_norm)?;
    }
    scaler.step(optimizer, model)
}

/// Trains a classifier by a loss of its output and the labels.
pub(super) struct ByLoss<'l, L> {
    pub(super) loss: &'l L,
    /// The stages of a pipeline, and what is in them.
    pub(super) in_flight: Option<RefCell<InFlight>>,
}

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
        let mut loss = |output: &Matrix<'_, T>| {
            let loss = self.loss.of(step, output, &part.labels, 1.0 / share.of as f64)?;
            ops::count_correct(output, &part.labels, &mut *correct)?;
            Ok(loss)
        };
        let Some(in_flight) = &self.in_flight else {
            return loss(&model.forward(step, &part.features)?);
        };
        in_flight.borrow_mut().enter(share.number)?;
        let (in_flight, arena) = (in_flight.borrow(), step.detached());
        let stages = in_flight.stages();
        let run = |layer, forward: &dyn Fn() -> _| in_flight.at(stages.of_layer(layer), arena, forward);
        let output = model.forward_on(step, &part.features, run)?;
        in_flight.at(stages.len() - 1, arena, || loss(&output))
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
