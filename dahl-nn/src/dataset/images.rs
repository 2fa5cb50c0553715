//! [`Images`]: images with labels, in memory.

use std::path::Path;

use dahl::prelude::*;
use dahl::simd::{self, Vectorised};

use super::Dataset;
use super::idx::Idx;
use super::packed_file;
use crate::error::{Error, Result};

/// Images with labels, a byte for each pixel of a channel. As features, they go from 0 to 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Images {
    shape: [usize; 3],
    classes: usize,
    pixels: Vec<u8>,
    labels: Vec<u8>,
}

impl Images {
    /// The images, of `rows` by `cols` pixels, and labels of two IDX files, at most `limit` of them.
    pub(super) fn from_idx(
        images: (&Path, &[u8]),
        labels: (&Path, &[u8]),
        [rows, cols]: [usize; 2],
        classes: usize,
        limit: usize,
    ) -> Result<Self> {
        let image_file = Idx::<3>::parse(images.0, images.1)?;
        let label_file = Idx::<1>::parse(labels.0, labels.1)?;
        let [count, extents @ ..] = image_file.extents;
        if extents != [rows, cols] {
            return Err(Error::Format {
                path: images.0.to_owned(),
                offset: 8,
                expected: format!("images of {rows} by {cols} pixels"),
                found: format!("{} by {}", extents[0], extents[1]),
            });
        }
        if count != label_file.extents[0] {
            return Err(Error::Counts {
                images_path: images.0.to_owned(),
                images: count,
                labels_path: labels.0.to_owned(),
                labels: label_file.extents[0],
            });
        }
        if let Some(index) = label_file.data.iter().position(|&label| usize::from(label) >= classes) {
            return Err(Error::Format {
                path: labels.0.to_owned(),
                offset: label_file.data_offset + index,
                expected: format!("a label below {classes}"),
                found: label_file.data[index].to_string(),
            });
        }
        let count = count.min(limit);
        Ok(Self {
            shape: [1, rows, cols],
            classes,
            pixels: image_file.data[..count * rows * cols].to_vec(),
            labels: label_file.data[..count].to_vec(),
        })
    }

    /// The images and labels of the two IDX files of these names in `folder`, plain or gzipped, at most `limit` of them.
    pub(super) fn from_idx_folder(
        folder: &Path,
        [images, labels]: [&'static str; 2],
        hint: &'static str,
        pixels: [usize; 2],
        classes: usize,
        limit: usize,
    ) -> Result<Self> {
        let (image_path, image_bytes) = packed_file::read(folder, images, hint)?;
        let (label_path, label_bytes) = packed_file::read(folder, labels, hint)?;
        Self::from_idx((&image_path, &image_bytes), (&label_path, &label_bytes), pixels, classes, limit)
    }

    /// Images of shape `[channels, rows, cols]`, whose pixels come one image after the other.
    pub(super) fn new(shape: [usize; 3], classes: usize, pixels: Vec<u8>, labels: Vec<u8>) -> Self {
        Self { shape, classes, pixels, labels }
    }

    /// The bytes of image `index`, channel by channel, row by row.
    pub fn pixels(&self, index: usize) -> &[u8] {
        let len: usize = self.shape.iter().product();
        &self.pixels[index * len..(index + 1) * len]
    }

    /// The first `limit` images.
    pub fn limited(mut self, limit: usize) -> Self {
        let len: usize = self.shape.iter().product();
        self.labels.truncate(limit);
        self.pixels.truncate(limit.saturating_mul(len));
        self
    }
}

/// The first 14 digits of 1 / 255.
const SHORT_SHADE: f64 = 8224.0 / (1 << 21) as f64;

/// Pixels as features from 0 to 1, in vectors.
struct Shades<'a, T> {
    pixels: &'a [u8],
    features: &'a mut [T],
}

/// Writes the quotients of pixels and 255.
pub(super) fn write_shades<T: Real>(pixels: &[u8], features: &mut [T]) {
    simd::dispatch(Shades { pixels, features });
}

impl<T: Real> Vectorised for Shades<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        // The quotient is first rounded to the compute type, which has more than twice the digits of a narrower `T`, so
        // rounding twice gives the same as rounding once. The quotient is a sum of two products. The first is exact,
        // since a pixel and the short part of 1 / 255 together have fewer digits than the type. The second is 2^-16 of
        // it, so the error of the sum is little more than its rounding. Quotients by 255 repeat every 8 digits, and are
        // farther than that from the midpoints between two numbers. (A division takes several times as long.)
        let white = T::Compute::from_f64(255.0);
        let short = T::Compute::from_f64(SHORT_SHADE);
        let rest = (T::Compute::ONE - white * short) / white;
        for (feature, &pixel) in self.features.iter_mut().zip(self.pixels) {
            let pixel = T::Compute::from_f64(f64::from(pixel));
            *feature = T::narrow(pixel * short + pixel * rest);
        }
    }
}

impl Dataset for Images {
    fn len(&self) -> usize {
        self.labels.len()
    }

    fn sample_shape(&self) -> &[usize] {
        &self.shape
    }

    fn classes(&self) -> usize {
        self.classes
    }

    fn copy_sample<T: Real>(&self, index: usize, features: &mut [T]) {
        write_shades(self.pixels(index), features);
    }

    fn label(&self, index: usize) -> u32 {
        u32::from(self.labels[index])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_the_quotient<T: Real>() {
        let pixels: Vec<u8> = (0..=255).collect();
        let images = Images { shape: [1, 16, 16], classes: 1, pixels: pixels.clone(), labels: vec![0] };
        let mut features = vec![T::ZERO; 256];
        images.copy_sample(0, &mut features);
        for (feature, pixel) in features.into_iter().zip(pixels) {
            assert_eq!(feature, T::from_f64(f64::from(pixel) / 255.0), "{pixel} in {}", T::NAME);
        }
    }

    #[test]
    fn a_feature_is_the_quotient() {
        is_the_quotient::<f64>();
        is_the_quotient::<f32>();
        is_the_quotient::<dahl::f16>();
        is_the_quotient::<dahl::bf16>();
    }
}
