//! [`Run`]: a training as it runs.

use std::marker::PhantomData;
use std::mem;
use std::sync::Arc;

use dahl::__nn::EnergyMark;
use dahl::prelude::*;

use super::batch::MOST_REPLAYED_PARTS;
use super::batch_program::BatchProgram;
use super::callback::{Callback, Progress};
use super::history::{Epoch, History};
use super::learning::Learning;
use super::options::Options;
use super::parallel::{Buckets, Stash};
use super::progress_bar::{ProgressBar, Speed};
use super::records::Records;
use super::state::State;
use crate::dataset::Random;
use crate::error::Error;
use crate::loader::{Division, Reader, Source};
use crate::metric_accumulator::{MetricAccumulators, MetricSum};
use crate::module::Module;
use crate::optimizer::Optimizer;
use crate::sequential::Evaluation;
use crate::step::Step;

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
    pub(super) options: Options<'t, T, M>,
    pub(super) micro_batch_size: usize,
    /// Batches that may be in flight.
    pub(super) batches_ahead: usize,
    /// The most bytes of arrays that were released together.
    pub(super) micro_batch_bytes: usize,
    /// The steps as a program, or why they are submitted.
    pub(super) program: Result<BatchProgram, String>,
    /// How gradients are sent between ranks, when that is known.
    pub(super) buckets: Option<Buckets>,
    /// The stages of a pipeline, and the versions of their parameters.
    pub(super) stash: Option<Stash<T>>,
    /// Whether a batch had too many parts to be replayed.
    pub(super) is_divided: bool,
    pub(super) element: PhantomData<T>,
}

impl<T, M, S, N, O> Run<'_, '_, T, M, S, N, O>
where
    T: Real,
    M: Module<T>,
    S: Source<T>,
    N: Learning<T, M, S>,
    O: Optimizer<T>,
{
    /// Trains to the end of the last epoch, or until the training is stopped.
    pub(super) fn fit(mut self) -> dahl::Result<History> {
        self.optimizer.check_settings()?;
        let mut step = Step::under(Tape::beside(self.arena));
        let totals = self.arena.sibling();
        let mut accumulators = MetricAccumulators::new(&totals, self.batches_ahead);
        self.share_leaves()?;
        let mut state = self.begin()?;
        self.prepare_program()?;
        if let Some(stash) = &mut self.stash {
            stash.own(self.model, self.arena)?;
        }
        let mut files = mem::take(&mut self.options.records);
        if !self.writes_files() {
            files.clear();
        }
        let mut records = Records::begin(files, &state.history)?;
        let (source, arena, threads) = (self.source, self.arena, self.options.threads);
        let trained = Reader::with(source, threads, arena, |reader| {
            while state.epoch <= self.options.epochs && !state.is_stopped {
                self.epoch(&mut state, &mut step, &mut accumulators, reader)?;
                self.end_epoch(&mut state, &mut records)?;
            }
            Ok(())
        });
        self.end_sharding()?;
        trained?;
        if let Some(values) = &state.seen.best_values {
            values.write_to(self.model)?;
        }
        let divided = || format!("a batch has more than {MOST_REPLAYED_PARTS} micro-batches");
        state.history.submitted = self.program.err().or_else(|| self.is_divided.then(divided));
        Ok(state.history)
    }

    /// Makes what the optimizer keeps, which a program cannot make.
    fn prepare_program(&mut self) -> dahl::Result<()> {
        if self.program.is_err() {
            return Ok(());
        }
        let (optimizer, mut index) = (&mut self.optimizer, 0);
        self.model.for_each_parameter(|name, parameter| {
            index += 1;
            if parameter.frozen { Ok(()) } else { optimizer.prepare_parameter(index - 1, name, parameter) }
        })
    }

    /// Trains to the end of an epoch.
    fn epoch(
        &mut self,
        state: &mut State<T>,
        step: &mut Step<'_>,
        accumulators: &mut MetricAccumulators<'_, T>,
        reader: &mut Reader<'_, '_, T, S>,
    ) -> dahl::Result<()> {
        let epoch = state.epoch;
        let mut order = self.options.order.of_epoch(self.arena, self.source.samples(), epoch)?;
        if self.options.drop_last {
            order.truncate(order.len() / self.options.batch_size * self.options.batch_size);
        }
        if order.is_empty() {
            return Err(Error::NoSamples { call: "Trainer: an epoch" }.into());
        }
        let division = Division {
            samples: order.len(),
            batch_size: self.options.batch_size,
            part_size: self.micro_batch_size,
        };
        reader.begin(epoch as u64 - 1, Arc::new(order), division, state.batch);
        // Dropout draws other numbers in each epoch, and the same ones in a run that is repeated.
        step.set_seed(Random::new(self.options.seed, &[epoch as u64]).bits());
        step.set_numbers_taken(state.numbers_taken);
        accumulators.sum = state.sum;
        if let Ok(program) = &mut self.program {
            program.begin_epoch();
        }
        let bar = || ProgressBar::new(epoch, self.options.epochs, division.samples, N::COUNTS);
        let mut bar = (self.options.progress && self.writes_files()).then(bar);
        let speed = Speed::after(state.sum.samples);
        let mark = EnergyMark::beside(self.arena);
        while state.batch < division.batches() && !state.is_stopped {
            let samples = division.batch(state.batch).len();
            let mut metrics = accumulators.next(samples)?;
            let is_taken = self.batch(state.steps, samples, step, reader, &mut metrics)?;
            accumulators.push(metrics)?;
            state.batch += 1;
            state.steps += 1;
            if !is_taken {
                state.history.skipped_steps.push(state.steps);
            } else if let Some(average) = &mut self.options.average {
                average.update(&*self.model)?;
            }
            self.call_back(state, |callback, progress| callback.step_ended(progress))?;
            if let Some(checkpoints) = &self.options.checkpoints
                && checkpoints.is_due_after_step(state.steps)
                && state.batch < division.batches()
                && !state.is_stopped
            {
                accumulators.wait()?;
                (state.sum, state.numbers_taken) = (accumulators.sum, step.numbers_taken());
                self.save(state, &checkpoints.path(state.steps))?;
                self.prune(state.steps)?;
            }
            if let Some(bar) = &mut bar {
                bar.update(&accumulators.sum, &speed);
            }
        }
        let sum = accumulators.finish()?;
        let energy = mark.since(self.arena);
        let samples_per_second = speed.samples_per_second(sum.samples);
        if let Some(bar) = bar {
            bar.end(&sum, &speed);
        }
        let validation = self.validate.map(|validate| validate(self.model)).transpose()?;
        state.history.epochs.push(Epoch {
            epoch,
            loss: sum.mean_loss(),
            accuracy: if N::COUNTS { sum.accuracy() } else { f64::NAN },
            correct: sum.correct,
            samples: sum.samples,
            energy,
            samples_per_second,
            validation,
        });
        Ok(())
    }

    /// Looks at the results of the epoch, calls back, and writes the records, then the checkpoints that are due: a
    /// training that goes on from one has them all.
    fn end_epoch(&mut self, state: &mut State<T>, records: &mut Records) -> dahl::Result<()> {
        if let (Some(early_stop), Some(epoch)) = (&self.options.early_stop, state.history.epochs.last()) {
            state.is_stopped |= early_stop.observe(epoch, self.model, &mut state.seen)?;
        }
        self.call_back(state, |callback, progress| callback.epoch_ended(progress))?;
        records.write(&state.history)?;
        let ended = state.epoch;
        (state.epoch, state.batch) = (ended + 1, 0);
        (state.sum, state.numbers_taken) = (MetricSum::default(), 0);
        let Some(checkpoints) = &self.options.checkpoints else { return Ok(()) };
        if let (Some(monitor), Some(epoch)) = (checkpoints.best, state.history.epochs.last())
            && monitor.improves(monitor.value(epoch), state.best, 0.0)
        {
            state.best = Some(monitor.value(epoch));
            self.save(state, &checkpoints.best_path())?;
        }
        if checkpoints.is_due_after_epoch(ended, state.steps) {
            self.save(state, &checkpoints.path(state.steps))?;
            self.prune(state.steps)?;
        }
        Ok(())
    }

    /// Calls the callbacks, and does what they ask for.
    fn call_back(
        &mut self,
        state: &mut State<T>,
        call: impl Fn(&mut dyn Callback<M>, &mut Progress<'_, M>) -> dahl::Result<()>,
    ) -> dahl::Result<()> {
        if self.options.callbacks.is_empty() {
            return Ok(());
        }
        let mut progress = Progress {
            model: self.model,
            history: &state.history,
            epoch: state.epoch,
            steps: state.steps,
            stops: false,
            learning_rate: None,
        };
        for callback in &mut self.options.callbacks {
            call(&mut **callback, &mut progress)?;
        }
        let (stops, learning_rate) = (progress.stops, progress.learning_rate);
        // A parameter may learn now that was frozen.
        self.prepare_program()?;
        state.is_stopped |= stops;
        if let Some(rate) = learning_rate {
            self.optimizer.use_learning_rate(rate)?;
            state.learning_rate = Some(rate);
        }
        Ok(())
    }
}
