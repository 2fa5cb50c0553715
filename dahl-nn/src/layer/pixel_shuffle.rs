//! [`PixelShuffle`] and [`PixelUnshuffle`]: channels as pixels, and back.

use dahl::ops;
use dahl::prelude::*;

use crate::module::Module;
use crate::setting;
use crate::step::Step;

/// Makes each group of `factor * factor` channels one channel whose image is `factor` times as large: each channel has the pixels at
/// one place of each square (Shi et al. 2016, *Real-Time Single Image and Video Super-Resolution Using an Efficient Sub-Pixel
/// Convolutional Neural Network*).
///
/// # Shapes
/// `[batch, channels factor^2, rows, cols]` to `[batch, channels, rows factor, cols factor]`.
#[derive(Clone, Copy, Debug, Module)]
#[module(crate = crate)]
pub struct PixelShuffle {
    factor: usize,
}

/// The inverse of [`PixelShuffle`].
///
/// # Shapes
/// `[batch, channels, rows factor, cols factor]` to `[batch, channels factor^2, rows, cols]`.
#[derive(Clone, Copy, Debug, Module)]
#[module(crate = crate)]
pub struct PixelUnshuffle {
    factor: usize,
}

impl PixelShuffle {
    /// A layer that makes images `factor` times as large.
    ///
    /// # Errors
    /// If the factor is 0.
    #[track_caller]
    pub fn new(factor: usize) -> dahl::Result<Self> {
        setting::require(factor > 0, "PixelShuffle: factor", factor, "a number from 1")?;
        Ok(Self { factor })
    }

    /// Maps a batch of images.
    ///
    /// # Errors
    /// If the channels are no multiple of the factor's square, and those of the operation.
    #[track_caller]
    pub fn forward<'s, T: Real>(
        &self,
        step: &'s Step<'_>,
        images: &Tensor<'_, T>,
    ) -> dahl::Result<Tensor<'s, T>> {
        let ([batch, channels, rows, cols], factor) = (images.shape(), self.factor);
        let square = factor.saturating_mul(factor);
        if !channels.is_multiple_of(square) {
            let fact = format!("{channels} channels are no multiple of {square}, the square of its factor");
            return Err(dahl::Error::invalid_shape("PixelShuffle", fact));
        }
        let channels = channels / square;
        let squares = images.reshaped([batch, channels, factor, factor, rows, cols])?;
        let moved = ops::permute_init(step, &*squares, [0, 1, 4, 2, 5, 3])?;
        moved.reshape([batch, channels, rows * factor, cols * factor])
    }
}

impl PixelUnshuffle {
    /// A layer that makes images smaller, by `factor`.
    ///
    /// # Errors
    /// If the factor is 0.
    #[track_caller]
    pub fn new(factor: usize) -> dahl::Result<Self> {
        setting::require(factor > 0, "PixelUnshuffle: factor", factor, "a number from 1")?;
        Ok(Self { factor })
    }

    /// Maps a batch of images.
    ///
    /// # Errors
    /// If the rows or columns are no multiple of the factor, and those of the operation.
    #[track_caller]
    pub fn forward<'s, T: Real>(
        &self,
        step: &'s Step<'_>,
        images: &Tensor<'_, T>,
    ) -> dahl::Result<Tensor<'s, T>> {
        let ([batch, channels, rows, cols], factor) = (images.shape(), self.factor);
        if !(rows.is_multiple_of(factor) && cols.is_multiple_of(factor)) {
            let fact = format!("images of {rows} by {cols} pixels do not divide into squares of {factor}");
            return Err(dahl::Error::invalid_shape("PixelUnshuffle", fact));
        }
        let (rows, cols) = (rows / factor, cols / factor);
        let squares = images.reshaped([batch, channels, rows, factor, cols, factor])?;
        let moved = ops::permute_init(step, &*squares, [0, 1, 3, 5, 2, 4])?;
        moved.reshape([batch, channels * factor * factor, rows, cols])
    }
}
