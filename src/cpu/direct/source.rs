//! [`Source`]: where [`gradient`](super::gradient()) has the gradient by a convolution's sums from.
//!
//! Not here: the gradient of what a convolution is fused with, [`Unpool`](super::Unpool).

use std::ops::Range;

use dahl_core::{Real, simd as loops};
use pulp::Simd;

use super::plane::Plane;
use super::unpool::rectified;
use crate::cpu::compute::{computes_in_itself, in_compute};
use crate::cpu::lanes::Lanes;

/// Where the gradient by the sums comes from.
pub(crate) trait Source<C> {
    /// How many elements behind the last position it may write.
    fn reach(&self) -> usize {
        0
    }

    /// The gradient by the sums of image number `image` and these filters, where it is, if nothing need be done to it.
    fn given(&self, _plane: &Plane, _image: usize, _filters: Range<usize>) -> Option<&[C]> {
        None
    }

    /// Writes the gradient by the sums of image number `image` and these filters to its positions, each filter's to a
    /// part that is `part_len` long; 0 between the rows and behind them.
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

/// It is there: `[batch, out_channels, rows, columns]`.
pub(crate) struct Given<'a, T> {
    pub(crate) gradient: &'a [T],
    pub(crate) out_channels: usize,
}

impl<T: Real<Compute: Lanes>> Source<T::Compute> for Given<'_, T> {
    fn given(&self, plane: &Plane, image: usize, filters: Range<usize>) -> Option<&[T::Compute]> {
        computes_in_itself::<T>()
            .then(|| bytemuck::cast_slice(planes(plane, self.gradient, self.out_channels, image, filters)))
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
        plane.spread(simd, planes(plane, self.gradient, self.out_channels, image, filters), parts, part_len);
    }
}

/// It passes a rectifier: what that lets through is added up for each channel.
pub(crate) struct Rectified<'a, T: Real> {
    /// The gradient by the rectifier's output, and that output, as of [`Given`].
    pub(crate) gradient: &'a [T],
    pub(crate) out: &'a [T],
    /// The gradient by the bias, to which the sums of the channels are added.
    pub(crate) by_bias: &'a mut [T::Compute],
    /// Room for what passes of a channel.
    pub(crate) passed: &'a mut [T::Compute],
    /// Room for the gradient of a channel and for its output, where they are not in the compute type.
    pub(crate) wide_gradient: &'a mut [T::Compute],
    pub(crate) wide_out: &'a mut [T::Compute],
}

impl<T: Real<Compute: Lanes>> Source<T::Compute> for Rectified<'_, T> {
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
        let channels = self.by_bias.len();
        for (channel, part) in filters.zip(parts.chunks_exact_mut(part_len)) {
            let [gradient, out] =
                [self.gradient, self.out].map(|of| planes(plane, of, channels, image, channel..channel + 1));
            let (gradient, out) = (in_compute(gradient, self.wide_gradient), in_compute(out, self.wide_out));
            for ((passed, &gradient), &out) in self.passed.iter_mut().zip(gradient).zip(out) {
                *passed = rectified(out, gradient);
            }
            self.by_bias[channel] += loops::sum(self.passed);
            plane.spread(simd, self.passed, part, part_len);
        }
    }
}

/// The planes of these filters of an image, of which all have an output of `plane`.
fn planes<'a, T>(
    plane: &Plane,
    all: &'a [T],
    filters_of_image: usize,
    image: usize,
    filters: Range<usize>,
) -> &'a [T] {
    let (first, len) = (image * filters_of_image, plane.outputs());
    &all[(first + filters.start) * len..(first + filters.end) * len]
}
