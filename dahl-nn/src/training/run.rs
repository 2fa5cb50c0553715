//! [`Run`]: a training as it runs.

use std::marker::PhantomData;
use std::num::NonZeroUsize;
use std::sync::Arc;

use dahl::LEAF_LEN;
use dahl::prelude::*;

use super::history::{Epoch, History};
use super::learning::{Learning, Share};
use super::options::Options;
use super::progress_bar::{ProgressBar, Speed};
use crate::dataset::Random;
use crate::error::Error;
use crate::loader::{Division, Reader, Source};
use crate::metric_accumulator::{MetricAccumulator, MetricAccumulators};
use crate::module::Module;
use crate::optimizer::{Optimizer, clip_gradient_norm};
use crate::sequential::Evaluation;
use crate::step::Step;

/// Bytes of micro-batches that may be in flight while the next one is submitted, if that keeps all workers busy: few
/// enough that memory is reused while a cache still holds it.
const BYTES_AHEAD: usize = 4 << 20;

/// Bytes of small micro-batches that are released together.
const RELEASED_BYTES: usize = 1 << 20;

/// Bytes of a gradient that, most likely, is folded in less time than a task takes to add to it.
const SMALL_GRADIENT_BYTES: usize = 64 << 10;

/// Evaluates the model after an epoch.
pub(super) type Validate<'v, M> = dyn Fn(&M) -> dahl::Result<Evaluation> + 'v;

/// A training: what a trainer was set to, and what it trains on.
pub(super) struct Run<'a, 't, T: Real, M, S, N, O> {
    pub(super) model: &'a mut M,
    pub(super) optimizer: O,
    pub(super) arena: &'a Arena,
    pub(super) source: &'a S,
    pub(super) learning: &'a N,
    pub(super) validate: Option<&'a Validate<'a, M>>,
    pub(super) options: Options<'t>,
    pub(super) micro_batch_size: usize,
    /// Batches that may be in flight.
    pub(super) batches_ahead: usize,
    /// The most bytes of arrays that were released together.
    pub(super) micro_batch_bytes: usize,
    pub(super) element: PhantomData<T>,
}

/// How far a training is.
#[derive(Debug)]
struct Position {
    /// The number of the epoch, from 1.
    epoch: usize,
    /// The number of the epoch's next batch, from 0.
    batch: usize,
    /// The updates so far.
    steps: usize,
}

impl<T, M, S, N, O> Run<'_, '_, T, M, S, N, O>
where
    T: Real,
    M: Module<T>,
    S: Source<T>,
    N: Learning<T, M, S>,
    O: Optimizer<T>,
{
    /// Trains to the end of the last epoch.
    pub(super) fn fit(mut self) -> dahl::Result<History> {
        self.optimizer.check_settings()?;
        let mut step = Step::under(Tape::beside(self.arena));
        let totals = self.arena.sibling();
        let mut accumulators = MetricAccumulators::new(&totals, self.batches_ahead);
        self.share_leaves()?;
        let mut position = Position { epoch: 1, batch: 0, steps: 0 };
        let mut history = History::default();
        let (source, arena, threads) = (self.source, self.arena, self.options.threads);
        Reader::with(source, threads, arena, |reader| {
            while position.epoch <= self.options.epochs {
                let record = self.epoch(&mut position, &mut step, &mut accumulators, reader)?;
                history.epochs.push(record);
                position.epoch += 1;
                position.batch = 0;
            }
            Ok(())
        })?;
        Ok(history)
    }

    /// Gives each contribution to small gradients a leaf of its own if a batch has few micro-batches, so that these add
    /// in parallel. With many micro-batches that is not needed: they are at different gradients at a time.
    fn share_leaves(&mut self) -> dahl::Result<()> {
        let are_few = self.options.batch_size.div_ceil(self.micro_batch_size) < LEAF_LEN.get();
        self.model.for_each_parameter(|_, parameter| {
            let is_small = parameter.len() * size_of::<T>() <= SMALL_GRADIENT_BYTES;
            parameter.gradient.set_leaf_len(if are_few && is_small { NonZeroUsize::MIN } else { LEAF_LEN });
            Ok(())
        })
    }

    /// Trains from `position` to the end of its epoch.
    fn epoch(
        &mut self,
        position: &mut Position,
        step: &mut Step<'_>,
        accumulators: &mut MetricAccumulators<'_, T>,
        reader: &mut Reader<'_, '_, T, S>,
    ) -> dahl::Result<Epoch> {
        let epoch = position.epoch;
        let order = self.options.order.of_epoch(self.arena, self.source.samples(), epoch)?;
        if order.is_empty() {
            return Err(Error::NoSamples { call: "Trainer: sampler" }.into());
        }
        let division = Division {
            samples: order.len(),
            batch_size: self.options.batch_size,
            part_size: self.micro_batch_size,
        };
        reader.begin(epoch as u64 - 1, Arc::new(order), division, position.batch);
        // Dropout draws other numbers in each epoch, and the same ones in a run that is repeated.
        step.set_seed(Random::new(self.options.seed, &[epoch as u64]).bits());
        let bar = || ProgressBar::new(epoch, self.options.epochs, division.samples, N::COUNTS);
        let mut bar = self.options.progress.then(bar);
        let speed = Speed::after(accumulators.sum.samples);
        while position.batch < division.batches() {
            let samples = division.batch(position.batch).len();
            let mut metrics = accumulators.next(samples)?;
            self.batch(position.steps, samples, step, reader, &mut metrics)?;
            accumulators.push(metrics)?;
            position.batch += 1;
            position.steps += 1;
            if let Some(bar) = &mut bar {
                bar.update(&accumulators.sum, &speed);
            }
        }
        let sum = accumulators.finish()?;
        let samples_per_second = speed.samples_per_second(sum.samples);
        if let Some(bar) = bar {
            bar.end(&sum, &speed);
        }
        let validation = self.validate.map(|validate| validate(self.model)).transpose()?;
        Ok(Epoch {
            epoch,
            loss: sum.mean_loss(),
            accuracy: if N::COUNTS { sum.accuracy() } else { f64::NAN },
            correct: sum.correct,
            samples_per_second,
            validation,
        })
    }

    /// Submits the tasks of one batch, micro-batch by micro-batch. The arrays of large micro-batches are released one
    /// micro-batch at a time.
    fn batch(
        &mut self,
        number: usize,
        samples: usize,
        step: &mut Step<'_>,
        reader: &mut Reader<'_, '_, T, S>,
        metrics: &mut MetricAccumulator<'_, T>,
    ) -> dahl::Result<()> {
        self.model.zero_gradients()?;
        for _ in 0..samples.div_ceil(self.micro_batch_size) {
            self.micro_batch(samples, step, reader, metrics)?;
            if step.detached().used_bytes() >= RELEASED_BYTES {
                self.release(step);
            }
        }
        if step.detached().used_bytes() > 0 {
            self.release(step);
        }
        if let Some(max_norm) = self.options.max_norm {
            clip_gradient_norm(self.model, max_norm)?;
        }
        if let Some(schedule) = &self.options.schedule {
            self.optimizer.use_learning_rate(schedule.at(number))?;
        }
        self.optimizer.step(self.model)
    }

    /// Releases the arrays of the last micro-batches, and waits if too many bytes are in flight. With small
    /// micro-batches it waits until half of the limit is left, so that it need not wait for each of the next ones:
    /// parking and waking this thread takes longer than such a micro-batch.
    fn release(&mut self, step: &mut Step<'_>) {
        // A micro-batch holds its arrays until its last task ends, and each worker may run another micro-batch.
        self.micro_batch_bytes = self.micro_batch_bytes.max(step.detached().used_bytes());
        let of_workers = step.detached().worker_infos().len() * self.micro_batch_bytes;
        let most = BYTES_AHEAD.max(of_workers);
        let are_small = of_workers <= most / 2;
        step.reset_beyond(most, if are_small { most / 2 } else { most });
    }

    /// Submits the forward and backward pass of one micro-batch of a batch of so many samples.
    fn micro_batch(
        &mut self,
        of: usize,
        step: &mut Step<'_>,
        reader: &mut Reader<'_, '_, T, S>,
        metrics: &mut MetricAccumulator<'_, T>,
    ) -> dahl::Result<()> {
        let (part, samples) = reader.next(step.detached())?;
        let share = Share { samples, of };
        let loss = self.learning.loss(step, self.model, &part, share, &mut metrics.correct)?;
        metrics.add(&loss)?;
        step.accumulate(&loss, self.model)?;
        drop((part, loss));
        step.forget();
        Ok(())
    }
}
