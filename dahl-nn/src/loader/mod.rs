//! Loading batches: [`DataLoader`], whose threads read samples ahead, the [`Sampler`]s that choose them, and the
//! [`Source`]s from which a trainer reads parts of batches.
//!
//! A sampler gives the order of an epoch, which is divided into batches. Threads take the next batch that nobody has
//! taken, read its samples into a vector, and put it beside the others; the iterator [`Batches`] gives the batches in
//! their order, each vector as an array, without a copy. Every random number depends on a seed, the epoch and a sample
//! alone, so the batches do not depend on the number of threads.
//!
//! Not here: data sets and their transforms (`dataset`).

mod batches;
mod device_turns;
mod queue;
mod reader;
mod sampler;
mod source;
mod weighted_sampler;

use std::sync::Arc;

use dahl::prelude::*;

pub use batches::{Batch, Batches};
pub(crate) use device_turns::DeviceTurns;
pub(crate) use reader::{Division, Reader};
pub use sampler::{RandomSampler, Sampler, SequentialSampler};
pub(crate) use source::features;
pub use source::{Part, Samples, Source, TokenSamples};
pub use weighted_sampler::WeightedSampler;

use crate::dataset::{Dataset, require_samples};
use crate::setting::Settings;

/// Reads the samples of a data set in batches, by threads that are ahead of the program.
///
/// ```
/// use dahl::prelude::*;
/// use dahl_nn::prelude::*;
///
/// let rt = Runtime::new()?;
/// let loader = DataLoader::new(FashionMnist::embedded()?.train.take(100)).batch_size(32).shuffle(7).threads(2);
/// let mut samples = 0;
/// for epoch in 0..2 {
///     for batch in loader.batches::<f32>(&rt, epoch)? {
///         let batch = batch?;
///         assert_eq!(batch.features.shape()[1], 28 * 28);
///         samples += batch.labels.len();
///     }
/// }
/// assert_eq!(samples, 200);
/// # Ok::<(), dahl::Error>(())
/// ```
///
/// An invalid setting is returned as an error by [`batches`](Self::batches), with the line that set it.
pub struct DataLoader<D> {
    data: Arc<D>,
    sampler: Box<dyn Sampler>,
    batch_size: usize,
    threads: usize,
    ahead: Option<usize>,
    drop_last: bool,
    settings: Settings,
}

impl<D: Dataset + 'static> DataLoader<D> {
    /// Loads batches of 64 samples in their order by one thread. Threads share `data`: pass an `Arc` to keep it too.
    pub fn new(data: D) -> Self {
        Self {
            data: Arc::new(data),
            sampler: Box::new(SequentialSampler),
            batch_size: 64,
            threads: 1,
            ahead: None,
            drop_last: false,
            settings: Settings::default(),
        }
    }

    /// Sets the samples of a batch.
    #[track_caller]
    pub fn batch_size(mut self, samples: usize) -> Self {
        self.settings.require(samples > 0, "DataLoader: batch_size", samples, "a number from 1");
        self.batch_size = samples;
        self
    }

    /// Loads every sample once an epoch, in a random order, which depends only on the seed and the epoch.
    pub fn shuffle(self, seed: u64) -> Self {
        self.sampler(RandomSampler::new(seed))
    }

    /// Sets which samples an epoch has, and their order.
    pub fn sampler(mut self, sampler: impl Sampler + 'static) -> Self {
        self.sampler = Box::new(sampler);
        self
    }

    /// Sets the number of threads that read samples: with 0, the program's thread reads each batch when it takes it.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Sets how many batches may be read, or be in reading, before the program takes them: one more than there are
    /// threads, by default. This bounds the memory.
    #[track_caller]
    pub fn ahead(mut self, batches: usize) -> Self {
        self.settings.require(batches > 0, "DataLoader: ahead", batches, "a number from 1");
        self.ahead = Some(batches);
        self
    }

    /// Leaves out the last batch of an epoch if it has fewer samples than the others. By default it is kept.
    pub fn drop_last(mut self, drop_last: bool) -> Self {
        self.drop_last = drop_last;
        self
    }

    /// The data set.
    pub fn data(&self) -> &D {
        &self.data
    }

    /// The batches of epoch `epoch`, from 0, in their order. Threads start to read them at once.
    ///
    /// # Errors
    /// If a setting is invalid, the sampler fails, or no thread can be started. The iterator returns the error of a
    /// sample that cannot be read in place of its batch.
    pub fn batches<'r, T: Real>(&self, rt: &'r Runtime, epoch: u64) -> dahl::Result<Batches<'r, T>> {
        self.settings.check()?;
        let order = self.sampler.order(self.data.len(), epoch)?;
        require_samples(&order, self.data.len())?;
        let mut batches: Vec<Vec<usize>> = order.chunks(self.batch_size).map(<[_]>::to_vec).collect();
        if self.drop_last && batches.last().is_some_and(|last| last.len() < self.batch_size) {
            batches.pop();
        }
        let ahead = self.ahead.unwrap_or(self.threads.saturating_add(1));
        Batches::start(rt, &self.data, batches, epoch, self.threads, ahead)
    }
}
