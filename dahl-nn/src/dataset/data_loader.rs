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
}

impl DataLoader {
    /// A data loader for the devices of `arena`'s runtime.
    pub(crate) fn new(arena: &Arena) -> Self {
        let workers = arena.worker_infos().iter().enumerate();
        Self {
            devices: workers.filter(|(_, info)| !info.is_cpu()).map(|(worker, _)| worker).collect(),
            turn: 0,
        }
    }

    /// The samples of these numbers, as `[batch, features]`, and their labels.
    ///
    /// # Errors
    /// If a label is not below the number of classes: reported here, before a task of the batch fails and poisons the
    /// parameters.
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
    pub(crate) fn load_features<'s, T: Real>(
        &mut self,
        step: &'s Arena,
        data: &impl Dataset,
        indices: &[usize],
    ) -> dahl::Result<Matrix<'s, T>> {
        let features = data.sample_shape().iter().product();
        let copy = |row: usize, features: &mut [T]| data.copy_sample(indices[row], features);
        let samples = step.from_rows([indices.len(), features], copy)?;
        if let Some(&device) = self.devices.get(self.turn) {
            samples.prefetch(device);
            self.turn = (self.turn + 1) % self.devices.len();
        }
        Ok(samples)
    }
}

fn checked_label(data: &impl Dataset, sample: usize) -> Result<u32> {
    match (data.label(sample), data.classes()) {
        (label, classes) if (label as usize) < classes => Ok(label),
        (label, classes) => Err(Error::Label { sample, label, classes }),
    }
}
