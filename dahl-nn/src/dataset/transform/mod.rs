//! Transforms of samples: the trait [`Transform`], those of images, and [`Transformed`], a data set of changed samples.
//!
//! A tuple of transforms is a transform: its parts are applied from the first to the last.
//!
//! ```
//! use dahl_nn::dataset::transform::{Normalise, RandomCrop, RandomHorizontalFlip};
//! use dahl_nn::prelude::*;
//!
//! let data = FashionMnist::embedded()?;
//! let augment = (RandomCrop::new([28, 28]).padding(2), RandomHorizontalFlip::new(), Normalise::new([0.286], [0.353]));
//! let train = data.train.transformed(augment, 7)?;
//! assert_eq!(train.sample_shape(), [1, 28, 28]);
//! # Ok::<(), dahl::Error>(())
//! ```

mod normalise;
mod one_hot;
mod random_crop;
mod random_erasing;
mod random_horizontal_flip;
mod transformed;

use dahl::prelude::*;

pub use normalise::Normalise;
pub use one_hot::OneHot;
pub use random_crop::RandomCrop;
pub use random_erasing::RandomErasing;
pub use random_horizontal_flip::RandomHorizontalFlip;
pub use transformed::Transformed;

use super::Random;
use crate::error::{Error, Result};

/// A change of a sample's features, possibly random.
pub trait Transform: Send + Sync {
    /// The shape of a sample afterwards, if it is `shape` before.
    ///
    /// # Errors
    /// If the transform does not accept this shape, or has an invalid setting.
    fn shape(&self, shape: &[usize]) -> dahl::Result<Vec<usize>>;

    /// Changes the features of a sample of shape `shape`, which [`shape`](Self::shape) accepts.
    ///
    /// # Errors
    /// If the transform does not accept the features.
    fn apply<T: Real>(&self, shape: &[usize], features: &mut Vec<T>, random: &mut Random)
    -> dahl::Result<()>;
}

/// Implements the trait for a tuple.
macro_rules! sequence {
    ($($name:ident),+) => {
        impl<$($name: Transform),+> Transform for ($($name,)+) {
            fn shape(&self, shape: &[usize]) -> dahl::Result<Vec<usize>> {
                #[allow(non_snake_case, reason = "a variable has the name of its type")]
                let ($($name,)+) = self;
                let shape = shape.to_vec();
                $(let shape = $name.shape(&shape)?;)+
                Ok(shape)
            }

            fn apply<T: Real>(
                &self,
                shape: &[usize],
                features: &mut Vec<T>,
                random: &mut Random,
            ) -> dahl::Result<()> {
                #[allow(non_snake_case, reason = "a variable has the name of its type")]
                let ($($name,)+) = self;
                let mut shape = shape.to_vec();
                $(
                    let next = $name.shape(&shape)?;
                    $name.apply(&shape, features, random)?;
                    shape = next;
                )+
                let _ = shape;
                Ok(())
            }
        }
    };
}

sequence!(A);
sequence!(A, B);
sequence!(A, B, C);
sequence!(A, B, C, D);
sequence!(A, B, C, D, E);
sequence!(A, B, C, D, E, F);

/// The extents of an image, `[channels, rows, cols]`.
fn image(transform: &'static str, shape: &[usize]) -> Result<[usize; 3]> {
    <[usize; 3]>::try_from(shape).map_err(|_| Error::TransformShape {
        transform,
        expected: "an image: [channels, rows, cols]".to_owned(),
        found: shape.to_vec(),
    })
}
