//! [`Batches`]: the batches of an epoch, and the threads that read them.

use std::sync::Arc;
use std::thread::{self, JoinHandle};

use dahl::prelude::*;

use super::device_turns::DeviceTurns;
use super::queue::Queue;
use super::source::{Samples, read_samples};
use crate::dataset::Dataset;
use crate::error::Error;

/// Samples and their labels, as arrays of the runtime.
#[derive(Debug)]
#[non_exhaustive]
pub struct Batch<T: Real> {
    /// The features of the samples, `[batch, features]`.
    pub features: Matrix<'static, T>,
    /// The labels of the samples, `[batch]`.
    pub labels: Vector<'static, u32>,
    /// The numbers of the samples in the data set.
    pub indices: Vec<usize>,
}

/// Reads batch number n.
type Read<T> = dyn Fn(usize) -> dahl::Result<Samples<T>> + Send + Sync;

/// The batches of an epoch: what [`DataLoader::batches`](super::DataLoader::batches) returns.
///
/// A batch of which a sample cannot be read is the error; the next ones follow. Dropping the iterator ends its threads,
/// once they have read the batches that they are at.
pub struct Batches<'r, T: Real> {
    rt: &'r Runtime,
    /// The samples of the batches.
    indices: Arc<[Vec<usize>]>,
    /// The number of the next batch.
    next: usize,
    read: Arc<Read<T>>,
    queue: Arc<Queue<dahl::Result<Samples<T>>>>,
    threads: Vec<JoinHandle<()>>,
    turns: DeviceTurns,
}

impl<'r, T: Real> Batches<'r, T> {
    pub(super) fn start<D: Dataset + 'static>(
        rt: &'r Runtime,
        data: &Arc<D>,
        batches: Vec<Vec<usize>>,
        epoch: u64,
        threads: usize,
        ahead: usize,
    ) -> dahl::Result<Self> {
        let indices: Arc<[Vec<usize>]> = batches.into();
        let (data, of_batches) = (data.clone(), indices.clone());
        let read: Arc<Read<T>> = Arc::new(move |batch| {
            let mut samples = Samples::default();
            read_samples(&*data, &of_batches[batch], epoch, &mut samples)?;
            Ok(samples)
        });
        let mut batches = Self {
            rt,
            next: 0,
            queue: Arc::new(Queue::new(ahead)),
            read,
            threads: Vec::new(),
            turns: DeviceTurns::new(&rt.arena()),
            indices,
        };
        batches.queue.add(batches.indices.len());
        for index in 0..threads.min(batches.indices.len()) {
            let (queue, read) = (batches.queue.clone(), batches.read.clone());
            let work = move || {
                while let Some(batch) = queue.begin() {
                    queue.put(batch, read(batch));
                }
            };
            let thread = thread::Builder::new().name(format!("dahl-loader-{index}")).spawn(work);
            batches.threads.push(thread.map_err(|error| Error::Thread { error })?);
        }
        Ok(batches)
    }

    /// Copies the arrays ahead to the devices in turn.
    fn batch(&mut self, number: usize, samples: dahl::Result<Samples<T>>) -> dahl::Result<Batch<T>> {
        let Samples { features, labels } = samples?;
        let indices = self.indices[number].clone();
        let shape = [indices.len(), features.len() / indices.len()];
        let features = self.rt.from_vec(shape, features)?;
        let labels = self.rt.from_vec([indices.len()], labels)?;
        if let Some(device) = self.turns.next() {
            features.prefetch(device);
            labels.prefetch(device);
        }
        Ok(Batch { features, labels, indices })
    }
}

impl<T: Real> Iterator for Batches<'_, T> {
    type Item = dahl::Result<Batch<T>>;

    fn next(&mut self) -> Option<Self::Item> {
        let number = self.next;
        if number == self.indices.len() {
            return None;
        }
        self.next += 1;
        let samples = if self.threads.is_empty() { (self.read)(number) } else { self.queue.take() };
        Some(self.batch(number, samples))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.indices.len() - self.next;
        (left, Some(left))
    }
}

impl<T: Real> ExactSizeIterator for Batches<'_, T> {}

impl<T: Real> Drop for Batches<'_, T> {
    fn drop(&mut self) {
        self.queue.close();
        for thread in self.threads.drain(..) {
            // Panics of data sets are caught, so it has none.
            let _ = thread.join();
        }
    }
}
