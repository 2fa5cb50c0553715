//! [`Source`]: where [`gradient`](super::gradient()) gets the gradient by a convolution's sums.
//!
//! Not here: the gradient of a fused epilogue, [`Unpool`](super::Unpool).

use std::ops::Range;

use dahl_core::{ElementType, Real, simd as loops};
use half::bf16;
use pulp::Simd;

use super::plane::Plane;
use super::unpool::rectified;
use crate::cpu::compute::{computes_in_itself, in_compute};
use crate::cpu::lanes::Lanes;

/// Where the gradient by the sums comes from.
pub(crate) trait Source<C> {
    /// The required padding: how many elements past the last position it may write.
    fn required_padding(&self) -> usize {
        0
    }

    /// The gradient by the sums of image number `image` and these filters, in place, if it is used as it is.
    fn given(&self, _plane: &Plane, _image: usize, _filters: Range<usize>) -> Option<&[C]> {
        None
    }

    /// The same in `bf16`, which need not be the compute type.
    fn given_to_bf16_dot(&self, _plane: &Plane, _image: usize, _filters: Range<usize>) -> Option<&[bf16]> {
        None
    }

    /// The memory that it reads for image number `image` and these filters.
    fn read(&self, plane: &Plane, image: usize, filters: Range<usize>) -> [&[u8]; 3];

    /// Writes the gradient by the sums of image number `image` and these filters to its positions, with a part of
    /// `part_len` elements for each filter; 0 between the rows and after them.
    fn fill<S: Simd>(
        &mut self,
        simd: S,
        plane: &Plane,
        image: usize,
        filters: Range<usize>,
        parts: &mut [C],
        part_len: usize,
    );
}

/// It is given: `[batch, out_channels, rows, columns]`.
pub(crate) struct Given<'a, T> {
    pub(crate) gradient: &'a [T],
    pub(crate) out_channels: usize,
}

impl<T> Given<'_, T> {
    /// The gradient of these filters of an image.
    fn of(&self, plane: &Plane, image: usize, filters: Range<usize>) -> &[T] {
        plane.channels(self.out_channels).of(self.gradient, image, filters)
    }
}

impl<T: Real<Compute: Lanes>> Source<T::Compute> for Given<'_, T> {
    fn given(&self, plane: &Plane, image: usize, filters: Range<usize>) -> Option<&[T::Compute]> {
        computes_in_itself::<T>().then(|| bytemuck::cast_slice(self.of(plane, image, filters)))
    }

    fn given_to_bf16_dot(&self, plane: &Plane, image: usize, filters: Range<usize>) -> Option<&[bf16]> {
        let is_bf16 = ElementType::of::<T>().is::<bf16>();
        is_bf16.then(|| bytemuck::cast_slice(self.of(plane, image, filters)))
    }

    fn read(&self, plane: &Plane, image: usize, filters: Range<usize>) -> [&[u8]; 3] {
        [bytemuck::cast_slice(self.of(plane, image, filters)), &[], &[]]
    }

    #[inline(always)]
    fn fill<S: Simd>(
        &mut self,
        simd: S,
        plane: &Plane,
        image: usize,
        filters: Range<usize>,
        parts: &mut [T::Compute],
        part_len: usize,
    ) {
        plane.spread(simd, self.of(plane, image, filters), parts, part_len);
    }
}

/// It passes ReLU; the gradient that passes is also summed over each channel.
pub(crate) struct Rectified<'a, T: Real> {
    /// The gradient by the output of ReLU, and that output, as of [`Given`].
    pub(crate) gradient: &'a [T],
    pub(crate) out: &'a [T],
    /// The gradient by the bias, to which the sums of the channels are added.
    pub(crate) by_bias: &'a mut [T::Compute],
    /// Working memory: the gradient of a channel that passes.
    pub(crate) passed: &'a mut [T::Compute],
    /// Working memory: the gradient of a channel and its output, if they are not in the compute type.
    pub(crate) wide_gradient: &'a mut [T::Compute],
    pub(crate) wide_out: &'a mut [T::Compute],
}

impl<T: Real<Compute: Lanes>> Source<T::Compute> for Rectified<'_, T> {
    fn read(&self, plane: &Plane, image: usize, filters: Range<usize>) -> [&[u8]; 3] {
        let channels = plane.channels(self.by_bias.len());
        let [gradient, out] = [self.gradient, self.out].map(|of| channels.of(of, image, filters.clone()));
        [bytemuck::cast_slice(gradient), bytemuck::cast_slice(out), &[]]
    }

    #[inline(always)]
    fn fill<S: Simd>(
        &mut self,
        simd: S,
        plane: &Plane,
        image: usize,
        filters: Range<usize>,
        parts: &mut [T::Compute],
        part_len: usize,
    ) {
        let channels = plane.channels(self.by_bias.len());
        for (channel, part) in filters.zip(parts.chunks_exact_mut(part_len)) {
            let [gradient, out] =
                [self.gradient, self.out].map(|of| channels.of(of, image, channel..channel + 1));
            let (gradient, out) = (in_compute(gradient, self.wide_gradient), in_compute(out, self.wide_out));
            for ((passed, &gradient), &out) in self.passed.iter_mut().zip(gradient).zip(out) {
                *passed = rectified(out, gradient);
            }
            self.by_bias[channel] += loops::sum(self.passed);
            plane.spread(simd, self.passed, part, part_len);
        }
    }
}
