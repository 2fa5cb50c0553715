//! [`MaxPool2d`] and [`AvgPool2d`]: the maximum or the mean of windows of images.
//!
//! [`MaxPool`](super::MaxPool) and [`AvgPool`](super::AvgPool) have further settings, and are for other numbers of axes.

use dahl::ops::{self, Pool2dGeometry};
use dahl::prelude::*;

use crate::module::Module;
use crate::setting;
use crate::step::Step;

/// The maximum of each window of every channel.
///
/// # Shapes
/// `[batch, channels, rows, cols]` to `[batch, channels, (rows + 2 padding - size) / stride + 1, ..]`; the remainder is not
/// read.
#[derive(Clone, Copy, Debug, Module)]
#[module(crate = crate)]
pub struct MaxPool2d {
    #[module(skip)]
    geometry: Pool2dGeometry,
}

/// The mean of each window of every channel.
///
/// # Shapes
/// As for [`MaxPool2d`].
#[derive(Clone, Copy, Debug, Module)]
#[module(crate = crate)]
pub struct AvgPool2d {
    #[module(skip)]
    geometry: Pool2dGeometry,
}

impl MaxPool2d {
    /// A layer with a window of `size` by `size`, that moves by its size, without padding.
    ///
    /// # Errors
    /// If the window is empty.
    #[track_caller]
    pub fn new(size: usize) -> dahl::Result<Self> {
        setting::require(size > 0, "MaxPool2d: size", size, "a number from 1")?;
        Ok(Self { geometry: Pool2dGeometry::new([size; 2]) })
    }

    /// Sets how far the window moves: `[rows, cols]`.
    pub fn stride(mut self, stride: [usize; 2]) -> Self {
        self.geometry = self.geometry.stride(stride);
        self
    }

    /// Sets the padding around the image, at most half of the window: never a maximum.
    pub fn padding(mut self, padding: [usize; 2]) -> Self {
        self.geometry = self.geometry.padding(padding);
        self
    }

    /// Maps a batch of images.
    ///
    /// # Errors
    /// If the window does not fit, the stride is 0 or the padding too large, and those of the operation.
    #[track_caller]
    pub fn forward<'s, T: Real>(
        &self,
        step: &'s Step<'_>,
        images: &Tensor<'_, T>,
    ) -> dahl::Result<Tensor<'s, T>> {
        Ok(ops::max_pool2d_init(step, images, self.geometry)?.0)
    }
}

impl AvgPool2d {
    /// A layer with a window of `size` by `size`, that moves by its size, without padding.
    ///
    /// # Errors
    /// If the window is empty.
    #[track_caller]
    pub fn new(size: usize) -> dahl::Result<Self> {
        setting::require(size > 0, "AvgPool2d: size", size, "a number from 1")?;
        Ok(Self { geometry: Pool2dGeometry::new([size; 2]) })
    }

    /// Sets how far the window moves: `[rows, cols]`.
    pub fn stride(mut self, stride: [usize; 2]) -> Self {
        self.geometry = self.geometry.stride(stride);
        self
    }

    /// Sets the padding around the image, at most half of the window: zeros that count.
    pub fn padding(mut self, padding: [usize; 2]) -> Self {
        self.geometry = self.geometry.padding(padding);
        self
    }

    /// Maps a batch of images.
    ///
    /// # Errors
    /// If the window does not fit, the stride is 0 or the padding too large, and those of the operation.
    #[track_caller]
    pub fn forward<'s, T: Real>(
        &self,
        step: &'s Step<'_>,
        images: &Tensor<'_, T>,
    ) -> dahl::Result<Tensor<'s, T>> {
        ops::avg_pool2d_init(step, images, self.geometry)
    }
}
