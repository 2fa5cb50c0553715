//! [`DataLoader`]: copies samples of a data set into arrays, and prefetches these to where tasks will need them.

use dahl::prelude::*;

use super::Dataset;
use crate::error::{Error, Result};

/// Decodes samples ahead of the tasks that learn from them, and prefetches them to the memories of the devices in turn:
/// the next batch is decoded and copied during this one.
///
/// A part of a batch that then runs elsewhere is copied there; results do not depend on it.
#[derive(Debug)]
pub(crate) struct DataLoader {
    /// The workers of devices.
    devices: Vec<usize>,
    /// The index of the next device.
    turn: usize,
    /// The samples that were loaded. Every epoch loads each sample once.
    loaded: usize,
}

impl DataLoader {
    /// A data loader for the devices of `arena`'s runtime.
    pub(crate) fn new(arena: &Arena) -> Self {
        let workers = arena.worker_infos().iter().enumerate();
        Self {
            devices: workers.filter(|(_, info)| !info.is_cpu()).map(|(worker, _)| worker).collect(),
            turn: 0,
            loaded: 0,
        }
    }

    /// The samples of these numbers, as `[batch, features]`, and their labels.
    ///
    /// # Errors
    /// If a sample cannot be read, or if a label is not below the number of classes: reported here, before a task of the
    /// batch fails and poisons the parameters.
    pub(crate) fn load<'s, T: Real>(
        &mut self,
        step: &'s Arena,
        data: &impl Dataset,
        indices: &[usize],
    ) -> dahl::Result<(Matrix<'s, T>, Vector<'s, u32>)> {
        let mut labels = step.zeros([indices.len()])?;
        for (label, &index) in labels.write()?.iter_mut().zip(indices) {
            *label = checked_label(data, index)?;
        }
        let turn = self.turn;
        let samples = self.load_features(step, data, indices)?;
        if let Some(&device) = self.devices.get(turn) {
            labels.prefetch(device);
        }
        Ok((samples, labels))
    }

    /// The samples of these numbers, as `[batch, features]`.
    ///
    /// # Errors
    /// If a sample cannot be read.
    pub(crate) fn load_features<'s, T: Real>(
        &mut self,
        step: &'s Arena,
        data: &impl Dataset,
        indices: &[usize],
    ) -> dahl::Result<Matrix<'s, T>> {
        let features = data.sample_shape().iter().product();
        let epoch = self.loaded.checked_div(data.len()).unwrap_or(0) as u64;
        self.loaded += indices.len();
        let mut outcome = Ok(());
        let read = |row: usize, features: &mut [T]| {
            if outcome.is_ok() {
                outcome = data.read_sample(indices[row], epoch, features);
            }
        };
        let samples = step.from_rows([indices.len(), features], read)?;
        outcome?;
        if let Some(&device) = self.devices.get(self.turn) {
            samples.prefetch(device);
            self.turn = (self.turn + 1) % self.devices.len();
        }
        Ok(samples)
    }
}

/// The label of a sample, which is below the number of classes.
pub(crate) fn checked_label(data: &impl Dataset, sample: usize) -> Result<u32> {
    match (data.label(sample), data.classes()) {
        (label, classes) if (label as usize) < classes => Ok(label),
        (label, classes) => Err(Error::Label { sample, label, classes }),
    }
}
