//! Data sets: the trait [`Dataset`], sets in the formats of files, parts of sets, and [`transform`]s of samples.
//!
//! Not here: which samples make a batch, and the threads that read them ahead (`loader`).

mod array_dataset;
mod cifar10;
mod csv_table;
mod fashion_mnist;
mod idx;
#[cfg(feature = "images")]
mod image_folder;
mod images;
mod king_james_bible;
mod mnist;
mod npy;
mod packed_file;
mod random;
mod subset;
mod synthetic;
mod token_windows;
pub mod transform;

use std::sync::Arc;

use dahl::prelude::*;

pub use array_dataset::ArrayDataset;
pub use cifar10::Cifar10;
pub(crate) use csv_table::csv_error;
pub use fashion_mnist::FashionMnist;
#[cfg(feature = "images")]
pub use image_folder::ImageFolder;
pub use images::Images;
pub use king_james_bible::king_james_bible;
pub use mnist::Mnist;
pub use random::Random;
pub use subset::Subset;
pub(crate) use subset::require_samples;
pub use synthetic::Synthetic;
pub use token_windows::{TokenBatches, TokenWindows};
pub use transform::{Transform, Transformed};

/// Samples with labels.
///
/// A reference to a data set, and an `Arc` of one, is a data set too: what takes part of one can leave the whole to its
/// owner.
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

    /// Writes the features of sample `index` as they are in epoch `epoch`, from 0: a set that augments its samples
    /// depends on it. This is what training and evaluation call; unless it is implemented, it is
    /// [`copy_sample`](Self::copy_sample).
    ///
    /// # Errors
    /// If the sample comes from a file that cannot be read or decoded, or if a transform does not accept it.
    fn read_sample<T: Real>(&self, index: usize, epoch: u64, features: &mut [T]) -> dahl::Result<()> {
        let _ = epoch;
        self.copy_sample(index, features);
        Ok(())
    }

    /// The first `limit` samples, or all if there are fewer.
    fn take(self, limit: usize) -> Subset<Self>
    where
        Self: Sized,
    {
        Subset::first(self, limit)
    }

    /// The samples of these numbers, in this order; a number may be there several times.
    ///
    /// # Errors
    /// If there is no sample of such a number.
    fn subset(self, indices: impl Into<Vec<usize>>) -> dahl::Result<Subset<Self>>
    where
        Self: Sized,
    {
        Subset::of(self, indices.into())
    }

    /// Divides the samples at random in two: the fraction `fraction`, rounded, and the rest. Which ones depends only on
    /// the seed; each part keeps their order.
    ///
    /// # Errors
    /// If the fraction is not from 0 to 1.
    #[track_caller]
    fn split(&self, fraction: f64, seed: u64) -> dahl::Result<(Subset<&Self>, Subset<&Self>)>
    where
        Self: Sized,
    {
        Subset::halves(self, fraction, seed)
    }

    /// The samples after `transform`, which may be a tuple of several. Its random numbers depend only on the seed, the
    /// epoch and the number of the sample.
    ///
    /// # Errors
    /// If the transform does not accept samples of this shape.
    fn transformed<F: Transform>(self, transform: F, seed: u64) -> dahl::Result<Transformed<Self, F>>
    where
        Self: Sized,
    {
        Transformed::new(self, transform, seed)
    }
}

/// Implements the required methods, and those that a set may implement, by those of another set.
macro_rules! as_pointee {
    ($pointer:ty) => {
        impl<D: Dataset> Dataset for $pointer {
            fn len(&self) -> usize {
                (**self).len()
            }

            fn is_empty(&self) -> bool {
                (**self).is_empty()
            }

            fn sample_shape(&self) -> &[usize] {
                (**self).sample_shape()
            }

            fn classes(&self) -> usize {
                (**self).classes()
            }

            fn copy_sample<T: Real>(&self, index: usize, features: &mut [T]) {
                (**self).copy_sample(index, features);
            }

            fn label(&self, index: usize) -> u32 {
                (**self).label(index)
            }

            fn read_sample<T: Real>(&self, index: usize, epoch: u64, features: &mut [T]) -> dahl::Result<()> {
                (**self).read_sample(index, epoch, features)
            }
        }
    };
}

as_pointee!(&D);
as_pointee!(Arc<D>);
