//! One batch of a [`Run`]: in micro-batches, or as a replay of the step's program.

use std::marker::PhantomData;

use arrayvec::ArrayVec;
use dahl::prelude::*;

use super::batch_program::Batch;
use super::learning::{Learning, Share, learn_part, update, update_scaled};
use super::parallel::{ReplicaSums, Stash};
use super::run::Run;
use crate::loader::{Reader, Source};
use crate::metric_accumulator::MetricAccumulator;
use crate::module::Module;
use crate::optimizer::Optimizer;
use crate::step::Step;

/// Bytes of micro-batches that may be in flight while the next one is submitted, if that keeps all workers busy: few
/// enough that memory is reused while a cache still holds it.
const BYTES_AHEAD: usize = 4 << 20;

/// The most micro-batches of a batch that is replayed: a program holds the arrays of those that may run side by side.
pub(super) const MOST_REPLAYED_PARTS: usize = 4;

/// Bytes of small micro-batches that are released together.
const RELEASED_BYTES: usize = 1 << 20;

impl<T, M, S, N, O> Run<'_, '_, T, M, S, N, O>
where
    T: Real,
    M: Module<T>,
    S: Source<T>,
    N: Learning<T, M, S>,
    O: Optimizer<T>,
{
    /// Submits the tasks of one batch: by a replay if the trainer has a program, else micro-batch by micro-batch. The
    /// arrays of large micro-batches are released one micro-batch at a time. Returns whether the step was taken, and not
    /// skipped.
    pub(super) fn batch(
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

    /// The gradients of a batch of so many parts, if stages of a pipeline have replicas.
    fn replica_sums(&self, parts: usize) -> dahl::Result<Option<ReplicaSums<T>>> {
        let of_stash = |stash| ReplicaSums::new(stash, &*self.model, parts, self.leaf_len());
        let replicated = self.stash.as_ref().filter(|stash| stash.stages().replicas().are_several());
        replicated.map(of_stash).transpose()
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
