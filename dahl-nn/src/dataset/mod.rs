//! Data sets: the trait [`Dataset`], [`FashionMnist`], and a [`Synthetic`] set of any shape.

mod data_loader;
mod fashion_mnist;
mod idx;
mod images;
mod synthetic;

use dahl::prelude::*;

pub(crate) use data_loader::DataLoader;
pub use fashion_mnist::FashionMnist;
pub use images::Images;
pub use synthetic::Synthetic;

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
