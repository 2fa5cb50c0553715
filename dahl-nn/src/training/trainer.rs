//! [`Trainer`]: trains a model on a data set, batch by batch.

use std::cell::RefCell;
use std::marker::PhantomData;

use dahl::prelude::*;

use super::batch_program::BatchProgram;
use super::history::History;
use super::learning::{ByFunction, ByLoss};
use super::micro_batch;
use super::options::Options;
use super::parallel::{InFlight, Stash};
use super::run::{Run, Validate};
use crate::dataset::Dataset;
use crate::error::Error;
use crate::loader::Source;
use crate::loss::Loss;
use crate::module::Module;
use crate::optimizer::Optimizer;
use crate::sequential::{Evaluation, Sequential};
use crate::step::Step;

/// Batches of any module that may be in flight: their metrics are small, and the bytes of their arrays are bounded apart.
const BATCHES_AHEAD: usize = 64;

/// Trains a model: forward, loss, backward, update, batch by batch, epoch by epoch.
///
/// A [`Sequential`] is trained by a [`Loss`] ([`new`](Self::new), [`fit`](Trainer::fit)). Any other [`Module`] is trained
/// by a function, which returns the loss of some samples ([`of`](Self::of), [`fit_with`](Trainer::fit_with)).
///
/// Each batch is divided into micro-batches of [`micro_batch_size`](Self::micro_batch_size) samples. Every operation on
/// a micro-batch is one task. The gradients of the micro-batches are reductions, so results do not depend on the number
/// of workers.
///
/// Layers that look at several samples see a micro-batch: batch normalisation takes the statistics of each one. With
/// `micro_batch_size(batch_size)` these are the batch's.
///
/// An invalid setting is returned as an error by `fit` or `fit_with`, with the line that set it.
pub struct Trainer<'t, 'm, T: Real, L, O, M = Sequential<'m, T>> {
    model: &'t mut M,
    loss: L,
    optimizer: O,
    /// An arena of the model's runtime.
    arena: Arena,
    pub(super) options: Options<'t, T, M>,
    validate: Option<ValidateBy<'t, M, L>>,
    layers: PhantomData<&'m T>,
}

/// Evaluates the model on data of a type that the trainer does not name.
type ValidateBy<'t, M, L> = Box<dyn Fn(&M, &L) -> dahl::Result<Evaluation> + 't>;

/// The place of a loss in a trainer that [`fit_with`](Trainer::fit_with) gives a function.
#[derive(Clone, Copy, Debug)]
pub struct ByStep;

/// A [`Sequential`], trained by a loss.
impl<'t, 'm, T: Real, L: Loss<T>, O: Optimizer<T>> Trainer<'t, 'm, T, L, O> {
    /// A trainer for one epoch of batches of 64, shuffled.
    pub fn new(model: &'t mut Sequential<'m, T>, loss: L, optimizer: O) -> Self {
        let arena = model.arena().sibling();
        Self::with(model, loss, optimizer, arena)
    }

    /// Evaluates the model on `data` after each epoch.
    pub fn validation<D: Dataset>(mut self, data: &'t D) -> Self {
        self.validate = Some(Box::new(|model, loss| model.evaluate(loss, data)));
        self
    }

    /// Trains on `data`. It sets how many contributions to each gradient share a leaf ([`Array::set_leaf_len`]).
    ///
    /// # Errors
    /// If a setting is invalid, the data set does not match the model, or a task fails.
    pub fn fit(mut self, data: &impl Dataset) -> dahl::Result<History> {
        self.options.check(self.validate.is_some(), true)?;
        self.model.require_fit("fit", data)?;
        let Self { model, loss, optimizer, arena, options, validate, .. } = self;
        let batch_size = options.batch_size;
        let micro_batch_size =
            options.micro_batch_size.or_else(|| options.shard_size()).unwrap_or_else(|| {
                micro_batch::default_samples(batch_size, model.parameter_count(), model.widest())
            });
        let batches_ahead = model.batches_ahead(batch_size);
        let validate = validate.as_ref().map(|validate| |model: &Sequential<'m, T>| validate(model, &loss));
        let program = BatchProgram::new(&arena, &options, false);
        let stages = options.pipeline().map(|(pipeline, location)| {
            let stages = pipeline.over(arena.ranks());
            stages.check(model.layers(), location).map(|()| stages)
        });
        let stages = stages.transpose()?;
        let in_flight = stages.clone().map(|stages| InFlight::new(stages, &arena).map(RefCell::new));
        let stash = options.pipeline().zip(stages);
        let stash =
            stash.map(|((pipeline, _), stages)| Stash::new(pipeline, stages, model.parameters_of_layers()));
        // A batch for each stage while this thread waits for others, however large they are: gates bound the activations.
        let batches_of_stages = stash.as_ref().map_or(0, |stash| 2 * stash.depth());
        let batches_ahead = batches_ahead.max(batches_of_stages);
        Run {
            model,
            optimizer,
            arena: &arena,
            source: data,
            learning: &ByLoss { loss: &loss, in_flight: in_flight.transpose()? },
            validate: validate.as_ref().map(|validate| validate as &Validate<'_, _>),
            options,
            micro_batch_size,
            batches_ahead,
            micro_batch_bytes: 0,
            program,
            buckets: None,
            stash,
            is_divided: false,
            element: PhantomData,
        }
        .fit()
    }
}

/// Any module, trained by a function.
impl<'t, T: Real, M: Module<T>, O: Optimizer<T>> Trainer<'t, 't, T, ByStep, O, M> {
    /// A trainer for one epoch of batches of 64, shuffled, each of one micro-batch. The runtime is the model's.
    ///
    /// ```
    /// use dahl::ops::tanh_init;
    /// use dahl::prelude::*;
    /// use dahl_nn::loss::{ElementwiseLoss as _, Mse};
    /// use dahl_nn::prelude::*;
    ///
    /// #[derive(Module)]
    /// struct Autoencoder<'m, T: Real> {
    ///     encoder: Linear<'m, T>,
    ///     decoder: Linear<'m, T>,
    /// }
    ///
    /// # fn main() -> dahl::Result<()> {
    /// let rt = Runtime::new()?;
    /// let arena = rt.arena();
    /// let mut init = Init::new(&arena, 42);
    /// let (encoder, decoder) = (Linear::new(&mut init, 6, 3)?, Linear::new(&mut init, 3, 6)?);
    /// let mut model = Autoencoder::<f32> { encoder, decoder };
    /// let data = Synthetic::new(&[6], 2, 200, 1);
    /// let trainer = Trainer::of(&rt, &mut model, AdamW::new(1e-2)).batch_size(20).epochs(5);
    /// let history = trainer.fit_with(&data, |step, model, part| {
    ///     let code = tanh_init(step, &model.encoder.forward(step, &part.features)?)?;
    ///     Mse.mean(step, &model.decoder.forward(step, &code)?, &part.features)
    /// })?;
    /// assert!(history.epochs[4].loss < history.epochs[0].loss);
    /// # Ok(())
    /// # }
    /// ```
    pub fn of(rt: &'t Runtime, model: &'t mut M, optimizer: O) -> Self {
        Self::with(model, ByStep, optimizer, rt.arena()).runtime(rt)
    }

    /// Evaluates the model by `evaluate` after each epoch.
    pub fn validation_with(mut self, evaluate: impl Fn(&M) -> dahl::Result<Evaluation> + 't) -> Self {
        self.validate = Some(Box::new(move |model, _| evaluate(model)));
        self
    }

    /// Trains on samples of `source`, such as a [`Dataset`] or [`TokenWindows`](crate::dataset::TokenWindows). `loss`
    /// returns the mean loss of the samples of a part of a batch. It sets how many contributions to each gradient share a
    /// leaf ([`Array::set_leaf_len`]).
    ///
    /// # Errors
    /// If a setting is invalid, there are no samples, a task fails, or `loss` does.
    pub fn fit_with<S: Source<T>>(
        mut self,
        source: &S,
        loss: impl for<'s> Fn(&'s Step<'_>, &M, &S::Part<'_>) -> dahl::Result<Scalar<'s, T>>,
    ) -> dahl::Result<History> {
        self.options.check(self.validate.is_some(), false)?;
        if let Some((_, location)) = self.options.pipeline() {
            let (value, expected) =
                ("a pipeline for `fit_with`".to_owned(), "`fit` of a `Sequential`, which has layers");
            return Err(Error::Setting { setting: "Trainer: parallel", value, expected, location }.into());
        }
        if source.samples() == 0 {
            return Err(Error::NoSamples { call: "fit_with" }.into());
        }
        let Self { model, loss: by_step, optimizer, arena, options, validate, .. } = self;
        let validate = validate.as_ref().map(|validate| |model: &M| validate(model, &by_step));
        let micro_batch_size =
            options.micro_batch_size.or_else(|| options.shard_size()).unwrap_or(options.batch_size);
        let program = BatchProgram::new(&arena, &options, true);
        Run {
            model,
            optimizer,
            arena: &arena,
            source,
            learning: &ByFunction(loss),
            validate: validate.as_ref().map(|validate| validate as &Validate<'_, _>),
            options,
            micro_batch_size,
            batches_ahead: BATCHES_AHEAD,
            micro_batch_bytes: 0,
            program,
            buckets: None,
            stash: None,
            is_divided: false,
            element: PhantomData,
        }
        .fit()
    }
}

impl<'t, T: Real, L, O, M> Trainer<'t, '_, T, L, O, M> {
    fn with(model: &'t mut M, loss: L, optimizer: O, arena: Arena) -> Self {
        let (options, layers) = (Options::default(), PhantomData);
        Self { model, loss, optimizer, arena, options, validate: None, layers }
    }
}
