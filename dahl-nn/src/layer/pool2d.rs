//! [`MaxPool2d`] and [`AvgPool2d`]: the maximum or the mean of windows that do not overlap.

use dahl::ops::{self, Pool2dGeometry};
use dahl::prelude::*;

use crate::module::Module;
use crate::setting;
use crate::step::Step;

/// The maximum of each window of every channel.
///
/// # Shapes
/// `[batch, channels, rows, cols]` to `[batch, channels, rows / size, cols / size]`; the remainder is not read.
#[derive(Clone, Copy, Debug, Module)]
#[module(crate = crate)]
pub struct MaxPool2d {
    size: usize,
}

/// The mean of each window of every channel.
///
/// # Shapes
/// As for [`MaxPool2d`].
#[derive(Clone, Copy, Debug, Module)]
#[module(crate = crate)]
pub struct AvgPool2d {
    size: usize,
}

impl MaxPool2d {
    /// A layer with a window of `size` by `size`.
    ///
    /// # Errors
    /// If the window is empty.
    #[track_caller]
    pub fn new(size: usize) -> dahl::Result<Self> {
        setting::require(size > 0, "MaxPool2d: size", size, "a number from 1")?;
        Ok(Self { size })
    }

    /// Maps a batch of images.
    ///
    /// # Errors
    /// If the window does not fit, and those of the operation.
    #[track_caller]
    pub fn forward<'s, T: Real>(
        &self,
        step: &'s Step<'_>,
        images: &Tensor<'_, T>,
    ) -> dahl::Result<Tensor<'s, T>> {
        Ok(ops::max_pool2d_init(step, images, Pool2dGeometry::new([self.size; 2]))?.0)
    }
}

impl AvgPool2d {
    /// A layer with a window of `size` by `size`.
    ///
    /// # Errors
    /// If the window is empty.
    #[track_caller]
    pub fn new(size: usize) -> dahl::Result<Self> {
        setting::require(size > 0, "AvgPool2d: size", size, "a number from 1")?;
        Ok(Self { size })
    }

    /// Maps a batch of images.
    ///
    /// # Errors
    /// If the window does not fit, and those of the operation.
    #[track_caller]
    pub fn forward<'s, T: Real>(
        &self,
        step: &'s Step<'_>,
        images: &Tensor<'_, T>,
    ) -> dahl::Result<Tensor<'s, T>> {
        ops::avg_pool2d_init(step, images, Pool2dGeometry::new([self.size; 2]))
    }
}
