//! [`Source`]: what a trainer reads, part by part of a batch.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use dahl::prelude::*;
use dahl::program::Bindings;

use crate::dataset::{Dataset, TokenWindows};
use crate::error::{Error, Result};

/// Samples for a trainer: how threads read some of them, and the arrays that a step takes.
///
/// Every [`Dataset`] is a source of features and labels ([`Part`]), and [`TokenWindows`] is one of inputs and targets. A
/// type of your own may read anything else: pairs of images, sequences with their lengths.
pub trait Source<T: Real>: Sync {
    /// What a thread reads. It is kept and filled again, so that memory is allocated once.
    type Samples: Default + Send;
    /// The samples as arrays: what a step takes.
    type Part<'s>;

    /// The number of samples.
    fn samples(&self) -> usize;

    /// Reads the samples of these numbers, as they are in epoch `epoch`, from 0, in place of what is in `samples`.
    ///
    /// # Errors
    /// If a sample cannot be read.
    fn read(&self, indices: &[usize], epoch: u64, samples: &mut Self::Samples) -> dahl::Result<()>;

    /// Makes arrays of samples that have been read.
    ///
    /// # Errors
    /// If memory cannot be allocated.
    fn arrays<'s>(&self, arena: &'s Arena, samples: &Self::Samples) -> dahl::Result<Self::Part<'s>>;

    /// Reads samples and makes arrays of them: what a trainer without threads calls. `samples` may be used as memory. By
    /// default it is [`read`](Self::read), then [`arrays`](Self::arrays).
    ///
    /// # Errors
    /// Those of both.
    fn read_arrays<'s>(
        &self,
        arena: &'s Arena,
        indices: &[usize],
        epoch: u64,
        samples: &mut Self::Samples,
    ) -> dahl::Result<Self::Part<'s>> {
        self.read(indices, epoch, samples)?;
        self.arrays(arena, samples)
    }

    /// Adds the arrays of a part to the arguments of a program (`bindings.read(&part.images)`), and returns true: then a trainer
    /// replays its steps. The default returns false.
    fn bind<'b>(part: &'b Self::Part<'_>, bindings: &mut Bindings<'b>) -> bool {
        let _ = (part, bindings);
        false
    }

    /// Copies the arrays to the memory of a device ahead of the tasks. The default leaves it to the tasks.
    fn prefetch(part: &Self::Part<'_>, worker: usize) {
        let _ = (part, worker);
    }
}

/// A part of a batch of a [`Dataset`], as arrays.
#[derive(Debug)]
#[non_exhaustive]
pub struct Part<'s, T: Real> {
    /// The features of the samples, `[samples, features]`.
    pub features: Matrix<'s, T>,
    /// The labels of the samples, `[samples]`.
    pub labels: Vector<'s, u32>,
}

/// Features and labels that have been read.
#[derive(Debug)]
pub struct Samples<T> {
    pub(super) features: Vec<T>,
    pub(super) labels: Vec<u32>,
}

impl<T> Default for Samples<T> {
    fn default() -> Self {
        Self { features: Vec::new(), labels: Vec::new() }
    }
}

impl<T: Real, D: Dataset> Source<T> for D {
    type Samples = Samples<T>;
    type Part<'s> = Part<'s, T>;

    fn samples(&self) -> usize {
        self.len()
    }

    fn read(&self, indices: &[usize], epoch: u64, samples: &mut Samples<T>) -> dahl::Result<()> {
        read_samples(self, indices, epoch, samples)
    }

    fn arrays<'s>(&self, arena: &'s Arena, samples: &Samples<T>) -> dahl::Result<Part<'s, T>> {
        let Samples { features, labels } = samples;
        let shape = [labels.len(), features.len().checked_div(labels.len()).unwrap_or(0)];
        Ok(Part {
            features: arena.from_slice(shape, features)?,
            labels: arena.from_slice([labels.len()], labels)?,
        })
    }

    /// Reads into the arrays. A label that is no class is reported before a task fails and poisons the parameters.
    fn read_arrays<'s>(
        &self,
        arena: &'s Arena,
        indices: &[usize],
        epoch: u64,
        _: &mut Samples<T>,
    ) -> dahl::Result<Part<'s, T>> {
        let mut labels = arena.zeros([indices.len()])?;
        for (label, &index) in labels.write()?.iter_mut().zip(indices) {
            *label = checked_label(self, index)?;
        }
        Ok(Part { features: features(self, arena, indices, epoch)?, labels })
    }

    fn bind<'b>(part: &'b Part<'_, T>, bindings: &mut Bindings<'b>) -> bool {
        bindings.read(&part.features);
        bindings.read(&part.labels);
        true
    }

    fn prefetch(part: &Part<'_, T>, worker: usize) {
        part.features.prefetch(worker);
        part.labels.prefetch(worker);
    }
}

/// Inputs and targets, `[windows, len]` each.
impl<T: Real> Source<T> for TokenWindows<'_> {
    type Samples = TokenSamples;
    type Part<'s> = (Matrix<'s, u32>, Matrix<'s, u32>);

    fn samples(&self) -> usize {
        self.count()
    }

    fn read(&self, indices: &[usize], _: u64, samples: &mut TokenSamples) -> dahl::Result<()> {
        self.check_settings()?;
        let TokenSamples { inputs, targets, windows } = samples;
        inputs.clear();
        targets.clear();
        *windows = indices.len();
        for &index in indices {
            let (input, target) = self.window(index);
            inputs.extend_from_slice(input);
            targets.extend_from_slice(target);
        }
        Ok(())
    }

    fn arrays<'s>(&self, arena: &'s Arena, samples: &TokenSamples) -> dahl::Result<Self::Part<'s>> {
        let TokenSamples { inputs, targets, windows } = samples;
        let shape = [*windows, inputs.len().checked_div(*windows).unwrap_or(0)];
        Ok((arena.from_slice(shape, inputs)?, arena.from_slice(shape, targets)?))
    }

    fn bind<'b>((inputs, targets): &'b Self::Part<'_>, bindings: &mut Bindings<'b>) -> bool {
        bindings.read(inputs);
        bindings.read(targets);
        true
    }

    fn prefetch((inputs, targets): &Self::Part<'_>, worker: usize) {
        inputs.prefetch(worker);
        targets.prefetch(worker);
    }
}

/// Tokens that have been read.
#[derive(Debug, Default)]
pub struct TokenSamples {
    inputs: Vec<u32>,
    targets: Vec<u32>,
    windows: usize,
}

/// The features of the samples of these numbers, `[samples, features]`, read into the array.
///
/// # Errors
/// If a sample cannot be read.
pub(crate) fn features<'s, T: Real>(
    data: &impl Dataset,
    arena: &'s Arena,
    indices: &[usize],
    epoch: u64,
) -> dahl::Result<Matrix<'s, T>> {
    let of_sample = data.sample_shape().iter().product();
    let mut outcome = Ok(());
    let read = |row: usize, features: &mut [T]| {
        if outcome.is_ok() {
            outcome = data.read_sample(indices[row], epoch, features);
        }
    };
    let features = arena.from_rows([indices.len(), of_sample], read)?;
    outcome?;
    Ok(features)
}

/// Reads the samples of these numbers. A panic of the data set is an error: no thread may end without a result.
pub(super) fn read_samples<T: Real>(
    data: &impl Dataset,
    indices: &[usize],
    epoch: u64,
    samples: &mut Samples<T>,
) -> dahl::Result<()> {
    // A panic outside of the samples is reported as one of the first.
    let sample = indices.first().copied().unwrap_or(0);
    let of_shape = || data.sample_shape().iter().product::<usize>();
    let of_sample: usize = catch_unwind(AssertUnwindSafe(of_shape))
        .map_err(|panic| Error::Panic { sample, message: message(&*panic) })?;
    let Some(len) = indices.len().checked_mul(of_sample) else {
        let fact = format!("{} samples of {of_sample} features are more than memory holds", indices.len());
        return Err(dahl::Error::invalid_shape("DataLoader", fact));
    };
    let Samples { features, labels } = samples;
    features.clear();
    labels.clear();
    if let Err(error) = features.try_reserve_exact(len) {
        return Err(dahl::Error::invalid_shape("DataLoader", error.to_string()));
    }
    features.resize(len, T::ZERO);
    labels.reserve_exact(indices.len());
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
    Ok(())
}

/// The label of a sample, which is below the number of classes.
fn checked_label(data: &impl Dataset, sample: usize) -> Result<u32> {
    match (data.label(sample), data.classes()) {
        (label, classes) if (label as usize) < classes => Ok(label),
        (label, classes) => Err(Error::Label { sample, label, classes }),
    }
}

/// The message of a panic.
pub(super) fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}
