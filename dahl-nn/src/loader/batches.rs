//! [`Batches`]: the batches of an epoch, and the threads that read them.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use dahl::prelude::*;

use super::queue::Queue;
use crate::dataset::{Dataset, checked_label};
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

/// Features and labels of a batch.
type Samples<T> = dahl::Result<(Vec<T>, Vec<u32>)>;

/// Reads batch number n.
type Read<T> = dyn Fn(usize) -> Samples<T> + Send + Sync;

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
    queue: Arc<Queue<Samples<T>>>,
    threads: Vec<JoinHandle<()>>,
    /// The workers of devices.
    devices: Vec<usize>,
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
        let read: Arc<Read<T>> = Arc::new(move |batch| read_samples(&*data, &of_batches[batch], epoch));
        let workers = rt.worker_infos().iter().enumerate();
        let mut batches = Self {
            rt,
            next: 0,
            queue: Arc::new(Queue::new(indices.len(), ahead)),
            read,
            threads: Vec::new(),
            devices: workers.filter(|(_, info)| !info.is_cpu()).map(|(worker, _)| worker).collect(),
            indices,
        };
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
    fn batch(&self, number: usize, samples: Samples<T>) -> dahl::Result<Batch<T>> {
        let (features, labels) = samples?;
        let indices = self.indices[number].clone();
        let shape = [indices.len(), features.len() / indices.len()];
        let features = self.rt.from_vec(shape, features)?;
        let labels = self.rt.from_vec([indices.len()], labels)?;
        if let Some(&device) = number.checked_rem(self.devices.len()).and_then(|turn| self.devices.get(turn))
        {
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

/// Reads the samples of these numbers.
fn read_samples<T: Real>(data: &impl Dataset, indices: &[usize], epoch: u64) -> Samples<T> {
    // A panic outside of the samples is reported as one of the first: no thread may end without a result.
    let sample = indices.first().copied().unwrap_or(0);
    let of_shape = || data.sample_shape().iter().product::<usize>();
    let of_sample: usize = catch_unwind(AssertUnwindSafe(of_shape))
        .map_err(|panic| Error::Panic { sample, message: message(&*panic) })?;
    let Some(len) = indices.len().checked_mul(of_sample) else {
        let fact = format!("{} samples of {of_sample} features are more than memory holds", indices.len());
        return Err(dahl::Error::invalid_shape("DataLoader", fact));
    };
    let mut features = Vec::new();
    if let Err(error) = features.try_reserve_exact(len) {
        return Err(dahl::Error::invalid_shape("DataLoader", error.to_string()));
    }
    features.resize(len, T::ZERO);
    let mut labels = Vec::with_capacity(indices.len());
    for (row, &sample) in indices.iter().enumerate() {
        let features = &mut features[row * of_sample..(row + 1) * of_sample];
        let read = || -> dahl::Result<u32> {
            let label = checked_label(data, sample)?;
            data.read_sample(sample, epoch, features)?;
            Ok(label)
        };
        let label = catch_unwind(AssertUnwindSafe(read))
            .unwrap_or_else(|panic| Err(Error::Panic { sample, message: message(&*panic) }.into()));
        labels.push(label?);
    }
    Ok((features, labels))
}

/// The message of a panic.
fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}
