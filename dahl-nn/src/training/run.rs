//! [`Run`]: a training as it runs.

use std::marker::PhantomData;
use std::mem;
use std::sync::Arc;

use arrayvec::ArrayVec;
use dahl::__nn::EnergyMark;
use dahl::prelude::*;

use super::batch_program::{Batch, BatchProgram};
use super::callback::{Callback, Progress};
use super::history::{Epoch, History};
use super::learning::{Learning, Share, learn_part, update, update_scaled};
use super::options::Options;
use super::parallel::{Buckets, ReplicaSums, Stash};
use super::progress_bar::{ProgressBar, Speed};
use super::records::Records;
use super::state::State;
use crate::dataset::Random;
use crate::error::Error;
use crate::loader::{Division, Reader, Source};
use crate::metric_accumulator::{MetricAccumulator, MetricAccumulators, MetricSum};
use crate::module::Module;
use crate::optimizer::Optimizer;
use crate::sequential::Evaluation;
use crate::step::Step;

/// Bytes of micro-batches that may be in flight while the next one is submitted, if that keeps all workers busy: few
/// enough that memory is reused while a cache still holds it.
const BYTES_AHEAD: usize = 4 << 20;

/// The most micro-batches of a batch that is replayed: a program holds the arrays of those that may run side by side.
const MOST_REPLAYED_PARTS: usize = 4;

/// Bytes of small micro-batches that are released together.
const RELEASED_BYTES: usize = 1 << 20;

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

    /// The gradients of a batch of so many parts, if stages of a pipeline have replicas.
    fn replica_sums(&self, parts: usize) -> dahl::Result<Option<ReplicaSums<T>>> {
        let of_stash = |stash| ReplicaSums::new(stash, &*self.model, parts, self.leaf_len());
        let replicated = self.stash.as_ref().filter(|stash| stash.stages().replicas().are_several());
        replicated.map(of_stash).transpose()
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

    /// Submits the tasks of one batch: by a replay if the trainer has a program, else micro-batch by micro-batch. The
    /// arrays of large micro-batches are released one micro-batch at a time. Returns whether the step was taken, and not
    /// skipped.
    fn batch(
        &mut self,
        number: usize,
        samples: usize,
        step: &mut Step<'_>,
        reader: &mut Reader<'_, '_, T, S>,
        metrics: &mut MetricAccumulator<'_, T>,
    ) -> dahl::Result<bool> {
        if let Some(schedule) = &self.options.schedule {
            self.optimizer.use_learning_rate(schedule.at(number))?;
        }
        if let Some(shards) = self.shards() {
            return self.batch_over_ranks(shards, samples, step, reader, metrics).map(|()| true);
        }
        let (parts, max_norm) = (samples.div_ceil(self.micro_batch_size), self.options.max_norm);
        if self.program.is_ok() && parts <= MOST_REPLAYED_PARTS {
            let arena = step.detached();
            let parts = (0..parts).map(|_| reader.next(arena));
            let parts = parts.collect::<dahl::Result<ArrayVec<_, MOST_REPLAYED_PARTS>>>()?;
            let replayed = self.replay(samples, step, &parts, metrics)?;
            let is_submitted = replayed.is_ok();
            if let Err(reason) = replayed {
                self.program = Err(reason);
                self.model.zero_gradients()?;
                for (number, (part, part_samples)) in parts.iter().enumerate() {
                    let share = Share { number, samples: *part_samples, of: samples };
                    learn_part(self.learning, step, self.model, part, share, metrics)?;
                }
            }
            drop(parts);
            step.forget();
            self.release(step);
            if !is_submitted {
                update(self.model, &mut self.optimizer, max_norm)?;
            }
            return Ok(true);
        }
        self.is_divided |= parts > MOST_REPLAYED_PARTS;
        if let Some(stash) = &mut self.stash {
            stash.enter(self.model, self.arena)?;
        }
        let learned = self.learn_parts(parts, samples, step, reader, metrics);
        // Also after an error: the model has its latest parameters then.
        if let Some(stash) = &mut self.stash {
            stash.leave(self.model)?;
        }
        learned?;
        match &mut self.options.loss_scaler {
            Some(scaler) => update_scaled(self.model, &mut self.optimizer, scaler, max_norm),
            None => update(self.model, &mut self.optimizer, max_norm).map(|()| true),
        }
    }

    /// Submits the forward and backward passes of a batch in so many parts.
    fn learn_parts(
        &mut self,
        parts: usize,
        samples: usize,
        step: &mut Step<'_>,
        reader: &mut Reader<'_, '_, T, S>,
        metrics: &mut MetricAccumulator<'_, T>,
    ) -> dahl::Result<()> {
        let mut of_replicas = self.replica_sums(parts)?;
        if of_replicas.is_none() {
            self.model.zero_gradients()?;
        }
        for number in 0..parts {
            let arena = step.detached();
            let (part, part_samples) = match &self.stash {
                Some(stash) => arena.on_rank(stash.first_rank(number), || reader.next(arena))?,
                None => reader.next(arena)?,
            };
            let share = Share { number, samples: part_samples, of: samples };
            let loss = self.learning.loss(step, &*self.model, &part, share, &mut metrics.correct)?;
            metrics.add(&loss)?;
            let loss = match &self.options.loss_scaler {
                Some(scaler) => scaler.scaled(step, &loss)?,
                None => loss,
            };
            match &mut of_replicas {
                Some(sums) => step.accumulate_to(&loss, &*self.model, sums.of_micro_batch(number))?,
                None => step.accumulate(&loss, self.model)?,
            }
            drop((loss, part));
            step.forget();
            if step.detached().used_bytes() >= RELEASED_BYTES {
                self.release(step);
            }
        }
        if step.detached().used_bytes() > 0 {
            self.release(step);
        }
        match (of_replicas, &self.stash) {
            (Some(sums), Some(stash)) => sums.take_gradients(stash, self.model, self.arena),
            _ => Ok(()),
        }
    }

    /// Submits a batch as a replay of the step, or says why the step cannot be a program; then nothing was submitted.
    fn replay(
        &mut self,
        samples: usize,
        step: &Step<'_>,
        parts: &[(S::Part<'_>, usize)],
        metrics: &mut MetricAccumulator<'_, T>,
    ) -> dahl::Result<Result<(), String>> {
        let program = match &mut self.program {
            Ok(program) => program,
            Err(reason) => return Ok(Err(reason.clone())),
        };
        let batch = Batch {
            model: &mut *self.model,
            optimizer: &mut self.optimizer,
            learning: self.learning,
            max_norm: self.options.max_norm,
            samples,
            metrics,
            parts,
            element: PhantomData::<(T, S)>,
        };
        program.run(batch, step)
    }

    /// Releases the arrays of the last micro-batches, and waits if too many bytes are in flight. With small
    /// micro-batches it waits until half of the limit is left, so that it need not wait for each of the next ones:
    /// parking and waking this thread takes longer than such a micro-batch.
    pub(super) fn release(&mut self, step: &mut Step<'_>) {
        // A micro-batch holds its arrays until its last task ends, and each worker, or stage, may run another micro-batch.
        self.micro_batch_bytes = self.micro_batch_bytes.max(step.detached().used_bytes());
        let workers = step.detached().worker_infos().len();
        let of_stages = self.stash.as_ref().map_or(0, Stash::depth);
        let side_by_side = of_stages.max(self.micro_batches_of_rank()).max(workers);
        let of_workers = side_by_side * self.micro_batch_bytes;
        let most = BYTES_AHEAD.max(of_workers);
        let are_small = of_workers <= most / 2;
        step.reset_beyond(most, if are_small { most / 2 } else { most });
    }
}
