//! [`Trainer`]: trains a model on a data set, batch by batch.

use std::num::NonZeroUsize;
use std::time::Instant;

use dahl::LEAF_LEN;
use dahl::ops;
use dahl::prelude::*;
use indicatif::{ProgressBar, ProgressStyle};

use super::history::{Epoch, History};
use crate::dataset::{DataLoader, Dataset, Random};
use crate::loss::Loss;
use crate::metric_accumulator::{MetricAccumulator, MetricAccumulators, MetricSum};
use crate::module::Module;
use crate::optimizer::Optimizer;
use crate::sequential::{Evaluation, Sequential};
use crate::setting::Settings;
use crate::step::Step;

/// Elements of the widest layer's output per task, by default: enough to make the cost of a task negligible, few enough
/// for a large batch to keep several workers busy. A model with more parameters than that uses their number, since each
/// micro-batch reads them all.
const ELEMENTS_PER_TASK: usize = 1 << 17;

/// Bytes of micro-batches that may be in flight while the next one is submitted, if that keeps all workers busy: few
/// enough that memory is reused while a cache still holds it.
const BYTES_AHEAD: usize = 4 << 20;

/// Bytes of small micro-batches that are released together.
const RELEASED_BYTES: usize = 1 << 20;

/// Bytes of a gradient that, most likely, is folded in less time than a task takes to add to it.
const SMALL_GRADIENT_BYTES: usize = 64 << 10;

/// The number of updates of the progress bar in an epoch.
const PROGRESS_TICKS: usize = 200;

/// Trains a model: forward, loss, backward, update, batch by batch, epoch by epoch.
///
/// Each batch is divided into micro-batches of [`micro_batch_size`](Self::micro_batch_size) samples. Every operation on
/// a micro-batch is one task. The gradients of the micro-batches are reductions, so results do not depend on the number
/// of workers.
///
/// Layers that look at several samples see a micro-batch: batch normalisation takes the statistics of each one. With
/// `micro_batch_size(batch_size)` these are the batch's.
pub struct Trainer<'t, 'm, T: Real, L, O> {
    model: &'t mut Sequential<'m, T>,
    loss: L,
    optimizer: O,
    batch_size: usize,
    epochs: usize,
    micro_batch_size: Option<usize>,
    shuffle: Option<u64>,
    progress: bool,
    validate: Option<Validate<'t, 'm, T, L>>,
    data_loader: DataLoader,
    settings: Settings,
    /// The most bytes of arrays that were released together.
    micro_batch_bytes: usize,
}

/// Evaluates the model on data of a type that the trainer does not name.
type Validate<'t, 'm, T, L> = Box<dyn Fn(&Sequential<'m, T>, &L) -> dahl::Result<Evaluation> + 't>;

/// An invalid setting is returned as an error by [`fit`](Trainer::fit), with the line that set it.
impl<'t, 'm, T: Real, L: Loss<T>, O: Optimizer<T>> Trainer<'t, 'm, T, L, O> {
    /// A trainer for one epoch of batches of 64, shuffled.
    pub fn new(model: &'t mut Sequential<'m, T>, loss: L, optimizer: O) -> Self {
        let data_loader = DataLoader::new(model.arena());
        Self {
            model,
            loss,
            optimizer,
            batch_size: 64,
            epochs: 1,
            micro_batch_size: None,
            shuffle: Some(1),
            progress: false,
            validate: None,
            data_loader,
            settings: Settings::default(),
            micro_batch_bytes: 0,
        }
    }

    /// Sets the samples per update of the parameters. The last batch of an epoch may be shorter.
    #[track_caller]
    pub fn batch_size(mut self, samples: usize) -> Self {
        self.settings.require(samples > 0, "Trainer: batch_size", samples, "a number from 1");
        self.batch_size = samples;
        self
    }

    /// Sets how often every sample is seen.
    #[track_caller]
    pub fn epochs(mut self, epochs: usize) -> Self {
        self.settings.require(epochs > 0, "Trainer: epochs", epochs, "a number from 1");
        self.epochs = epochs;
        self
    }

    /// Sets the samples per task; the default depends only on the shapes.
    #[track_caller]
    pub fn micro_batch_size(mut self, samples: usize) -> Self {
        self.settings.require(samples > 0, "Trainer: micro_batch_size", samples, "a number from 1");
        self.micro_batch_size = Some(samples);
        self
    }

    /// Shuffles the samples before each epoch with the random numbers of `seed`, which also determines what dropout draws.
    /// The default, with seed 1.
    pub fn shuffle(mut self, seed: u64) -> Self {
        self.shuffle = Some(seed);
        self
    }

    /// Keeps the samples in their order.
    pub fn no_shuffle(mut self) -> Self {
        self.shuffle = None;
        self
    }

    /// Shows a progress bar on the terminal.
    pub fn progress(mut self, progress: bool) -> Self {
        self.progress = progress;
        self
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
        self.settings.check()?;
        self.optimizer.check_settings()?;
        self.model.require_fit("fit", data)?;
        let mut step = Step::under(Tape::beside(self.model.arena()));
        let totals = self.model.arena().sibling();
        let mut accumulators = MetricAccumulators::new(&totals, self.model.batches_ahead(self.batch_size));
        let micro_batch_size = self.micro_batch_size.unwrap_or_else(|| self.default_micro_batch_size());
        self.share_leaves(micro_batch_size)?;
        let mut indices: Vec<usize> = (0..data.len()).collect();
        let mut history = History::default();
        for epoch in 1..=self.epochs {
            if let Some(seed) = self.shuffle {
                indices = self.permutation(data.len(), seed.wrapping_add(epoch as u64))?;
            }
            // Dropout draws other numbers in each epoch, and the same ones in a run that is repeated.
            step.set_seed(Random::new(self.shuffle.unwrap_or(0), &[epoch as u64]).bits());
            let mut record =
                self.epoch(epoch, &mut step, &mut accumulators, data, &indices, micro_batch_size)?;
            if let Some(validate) = &self.validate {
                record.validation = Some(validate(self.model, &self.loss)?);
            }
            history.epochs.push(record);
        }
        Ok(history)
    }

    /// Samples of a micro-batch: about as many as have enough elements.
    fn default_micro_batch_size(&self) -> usize {
        let elements = ELEMENTS_PER_TASK.max(self.model.parameter_count());
        samples_of_micro_batch(self.batch_size, (elements / self.model.widest().max(1)).max(1))
    }

    /// Gives each contribution to small gradients a leaf of its own if a batch has few micro-batches, so that these add
    /// in parallel. With many micro-batches that is not needed: they are at different gradients at a time.
    fn share_leaves(&mut self, micro_batch_size: usize) -> dahl::Result<()> {
        let are_few = self.batch_size.div_ceil(micro_batch_size) < LEAF_LEN.get();
        self.model.for_each_parameter(|_, parameter| {
            let is_small = parameter.len() * size_of::<T>() <= SMALL_GRADIENT_BYTES;
            parameter.gradient.set_leaf_len(if are_few && is_small { NonZeroUsize::MIN } else { LEAF_LEN });
            Ok(())
        })
    }

    fn permutation(&self, len: usize, seed: u64) -> dahl::Result<Vec<usize>> {
        let arena = self.model.arena().sibling();
        let mut order: Vector<u32> = arena.zeros([len])?;
        ops::permutation(&mut order, seed)?;
        Ok(order.to_vec()?.into_iter().map(|index| index as usize).collect())
    }

    fn epoch<D: Dataset>(
        &mut self,
        epoch: usize,
        step: &mut Step<'_>,
        accumulators: &mut MetricAccumulators<'_, T>,
        data: &D,
        indices: &[usize],
        micro_batch_size: usize,
    ) -> dahl::Result<Epoch> {
        let bar = self.progress.then(|| progress_bar(epoch, self.epochs, data.len()));
        let (mut shown, shown_every) = (0, data.len() / PROGRESS_TICKS);
        let start = Instant::now();
        for indices in indices.chunks(self.batch_size) {
            let mut metrics = accumulators.next(indices.len())?;
            self.batch(step, data, indices, micro_batch_size, &mut metrics)?;
            accumulators.push(metrics)?;
            if let Some(bar) = bar.as_ref().filter(|_| accumulators.sum.samples > shown + shown_every) {
                shown = accumulators.sum.samples;
                show(bar, &accumulators.sum, start);
            }
        }
        let sum = accumulators.finish()?;
        let samples_per_second = data.len() as f64 / start.elapsed().as_secs_f64();
        if let Some(bar) = bar {
            show(&bar, &sum, start);
            bar.abandon();
        }
        let (loss, accuracy, correct) = (sum.mean_loss(), sum.accuracy(), sum.correct);
        Ok(Epoch { epoch, loss, accuracy, correct, samples_per_second, validation: None })
    }

    /// Submits the tasks of one batch, micro-batch by micro-batch. The arrays of large micro-batches are released one
    /// micro-batch at a time.
    fn batch<D: Dataset>(
        &mut self,
        step: &mut Step<'_>,
        data: &D,
        indices: &[usize],
        micro_batch_size: usize,
        metrics: &mut MetricAccumulator<'_, T>,
    ) -> dahl::Result<()> {
        self.model.zero_gradients()?;
        let factor = 1.0 / indices.len() as f64;
        for micro_batch in indices.chunks(micro_batch_size) {
            self.micro_batch(step, data, micro_batch, factor, metrics)?;
            if step.detached().used_bytes() >= RELEASED_BYTES {
                self.release(step);
            }
        }
        if step.detached().used_bytes() > 0 {
            self.release(step);
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

    /// Submits the forward and backward pass of one micro-batch, whose samples have the weight `factor`.
    fn micro_batch<D: Dataset>(
        &mut self,
        step: &mut Step<'_>,
        data: &D,
        indices: &[usize],
        factor: f64,
        metrics: &mut MetricAccumulator<'_, T>,
    ) -> dahl::Result<()> {
        let (input, labels) = self.data_loader.load(step.detached(), data, indices)?;
        let output = self.model.forward(step, &input)?;
        let loss = self.loss.of(step, &output, &labels, factor)?;
        metrics.add(&loss)?;
        ops::count_correct(&output, &labels, &mut metrics.correct)?;
        step.accumulate(&loss, self.model)?;
        drop((input, labels, output, loss));
        step.forget();
        Ok(())
    }
}

/// Samples of each micro-batch except the last one, from half of `about` to one and a half of it: the number for which
/// two workers that alternate between micro-batches end earliest, without one waiting for the last micro-batch of the
/// other. A batch of at most `about` samples is one micro-batch.
fn samples_of_micro_batch(batch_size: usize, about: usize) -> usize {
    let until_both_end = |samples: usize| samples * batch_size.div_ceil(samples).div_ceil(2);
    let sizes = about.div_ceil(2)..=(about + about / 2).min(batch_size);
    let best = sizes.min_by_key(|&samples| (until_both_end(samples), samples.abs_diff(about)));
    best.filter(|_| batch_size > about).unwrap_or(batch_size)
}

fn show(bar: &ProgressBar, sum: &MetricSum, start: Instant) {
    let (loss, accuracy) = (sum.mean_loss(), sum.accuracy());
    let per_second = sum.samples as f64 / start.elapsed().as_secs_f64();
    bar.set_position(sum.samples as u64);
    bar.set_message(format!("loss {loss:.4}, accuracy {accuracy:.4}, {per_second:.0} samples/s"));
}

fn progress_bar(epoch: usize, epochs: usize, samples: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{prefix} {wide_bar} {pos}/{len} {msg}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(samples as u64).with_style(style).with_prefix(format!("epoch {epoch}/{epochs}"))
}

#[cfg(test)]
mod tests {
    use super::samples_of_micro_batch;

    #[test]
    fn two_workers_share_a_batch() {
        for about in 1..100 {
            for batch_size in 1..500 {
                let samples = samples_of_micro_batch(batch_size, about);
                let sizes: Vec<_> = vec![(); batch_size].chunks(samples).map(<[()]>::len).collect();
                if batch_size <= about {
                    assert_eq!(sizes, [batch_size]);
                    continue;
                }
                assert!(
                    samples >= about.div_ceil(2) && samples <= about + about / 2,
                    "{batch_size}, {about}"
                );
                let first: usize = sizes.iter().step_by(2).sum();
                let all_sizes = about.div_ceil(2)..=about + about / 2;
                let least = all_sizes.map(|other| other * batch_size.div_ceil(other).div_ceil(2)).min();
                assert!(first <= least.unwrap_or(batch_size), "{batch_size} by {about}: {sizes:?}");
            }
        }
        let examples = [(64, 55), (256, 55), (500, 48), (100, 48), (64, 5), (100, 6)];
        assert_eq!(examples.map(|(all, about)| samples_of_micro_batch(all, about)), [32, 64, 50, 50, 4, 5]);
    }
}
