//! [`RandomCrop`]: a random part of an image.

use dahl::prelude::*;

use super::{Transform, image};
use crate::dataset::Random;
use crate::error::Error;

/// Cuts a random part of `rows` by `cols` pixels out of an image, which may be padded with zeros before.
///
/// The augmentation of Krizhevsky, Sutskever, Hinton 2012, "ImageNet Classification with Deep Convolutional Neural
/// Networks", section 4.1; with a padding of 4 for CIFAR-10, as in He, Zhang, Ren, Sun 2015, arXiv:1512.03385, section 4.2.
///
/// # Shapes
/// `[channels, rows, cols]` becomes `[channels, crop_rows, crop_cols]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RandomCrop {
    size: [usize; 2],
    padding: usize,
}

impl RandomCrop {
    /// Parts of `[rows, cols]` pixels.
    pub fn new(size: [usize; 2]) -> Self {
        Self { size, padding: 0 }
    }

    /// Adds so many zeros at each of the four sides first: 0 by default.
    pub fn padding(mut self, pixels: usize) -> Self {
        self.padding = pixels;
        self
    }
}

impl Transform for RandomCrop {
    fn shape(&self, shape: &[usize]) -> dahl::Result<Vec<usize>> {
        let [channels, rows, cols] = image("RandomCrop", shape)?;
        let fits = |extent: usize, size: usize| {
            let padded = self.padding.checked_mul(2).and_then(|both| both.checked_add(extent));
            size > 0 && padded.is_some_and(|padded| size <= padded)
        };
        if !fits(rows, self.size[0]) || !fits(cols, self.size[1]) {
            let expected = format!(
                "an image that has a part of {} by {} pixels, with a padding of {}",
                self.size[0], self.size[1], self.padding
            );
            let error = Error::TransformShape { transform: "RandomCrop", expected, found: shape.to_vec() };
            return Err(error.into());
        }
        Ok(vec![channels, self.size[0], self.size[1]])
    }

    fn apply<T: Real>(
        &self,
        shape: &[usize],
        features: &mut Vec<T>,
        random: &mut Random,
    ) -> dahl::Result<()> {
        let [channels, rows, cols] = image("RandomCrop", shape)?;
        // The first row and column of the part, in the padded image.
        let top = random.below(rows + 2 * self.padding - self.size[0] + 1);
        let left = random.below(cols + 2 * self.padding - self.size[1] + 1);
        // The part's columns that are not padding, and where they are in the image.
        let from = self.padding.saturating_sub(left).min(self.size[1]);
        let until = (self.padding + cols).saturating_sub(left).min(self.size[1]);
        let mut part = vec![T::ZERO; channels * self.size[0] * self.size[1]];
        for (index, to) in part.chunks_exact_mut(self.size[1]).enumerate() {
            let (channel, row) = (index / self.size[0], index % self.size[0] + top);
            let inside = row.checked_sub(self.padding).filter(|&row| row < rows);
            if let Some(row) = inside.filter(|_| from < until) {
                let start = (channel * rows + row) * cols + left + from - self.padding;
                to[from..until].copy_from_slice(&features[start..start + until - from]);
            }
        }
        *features = part;
        Ok(())
    }
}
