//! Data sets: the trait [`Dataset`], [`FashionMnist`], and a [`Synthetic`] set of any shape.

mod fashion_mnist;
mod idx;
mod images;
mod synthetic;

use dahl::prelude::*;

pub use fashion_mnist::FashionMnist;
pub use images::Images;
pub use synthetic::Synthetic;

use crate::error::{Error, Result};

/// Samples with labels.
pub trait Dataset: Send + Sync {
    /// The number of samples.
    fn len(&self) -> usize;

    /// Whether there are no samples.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The shape of a sample: `[channels, rows, cols]` of an image, `[features]` of a row of features.
    fn sample_shape(&self) -> &[usize];

    /// The number of classes; every label is below it.
    fn classes(&self) -> usize;

    /// Writes the features of sample `index`, in row-major order.
    fn copy_sample<T: Real>(&self, index: usize, features: &mut [T]);

    /// The class of sample `index`.
    fn label(&self, index: usize) -> u32;
}

/// The samples of these numbers, as `[batch, features]`, and their labels.
///
/// # Errors
/// If a label is not below the number of classes: said here, before a task of the batch could fail and take the
/// parameters with it.
pub(crate) fn load<'s, T: Real>(
    step: &'s Arena,
    data: &impl Dataset,
    indices: &[usize],
) -> dahl::Result<(Matrix<'s, T>, Vector<'s, u32>)> {
    let mut labels = step.zeros([indices.len()])?;
    for (label, &index) in labels.write()?.iter_mut().zip(indices) {
        *label = checked_label(data, index)?;
    }
    Ok((load_features(step, data, indices)?, labels))
}

/// The samples of these numbers, as `[batch, features]`.
pub(crate) fn load_features<'s, T: Real>(
    step: &'s Arena,
    data: &impl Dataset,
    indices: &[usize],
) -> dahl::Result<Matrix<'s, T>> {
    let features = data.sample_shape().iter().product();
    let mut samples = step.zeros([indices.len(), features])?;
    {
        let mut guard = samples.write()?;
        for (mut row, &index) in guard.rows_mut().into_iter().zip(indices) {
            data.copy_sample(index, row.as_slice_mut().expect("a row of a new matrix is contiguous"));
        }
    }
    Ok(samples)
}

fn checked_label(data: &impl Dataset, sample: usize) -> Result<u32> {
    match (data.label(sample), data.classes()) {
        (label, classes) if (label as usize) < classes => Ok(label),
        (label, classes) => Err(Error::Label { sample, label, classes }),
    }
}
