//! [`ChannelPairs`] and [`PositionPairs`]: the sums of [`convolve`](super::convolve()) and [`gradient`](super::gradient()) for
//! `bf16`, by the instruction that multiplies pairs and adds both products to an `f32` (AVX512-BF16). It does twice as much
//! as a multiply-add of `f32`.
//!
//! * A convolution has two channels side by side in a pair, in planes and in filters. The last one of an odd number has
//!   zeros at its side.
//! * A gradient has two positions in a pair, which are side by side already.
//!
//! To the instruction subnormal elements are zeros; an image that has some takes the usual way.

use dahl_core::{ElementType, Real};
use half::bf16;

use super::filters::{Filters, Order};
use super::plane::Plane;
#[cfg(target_arch = "x86_64")]
use instruction::{add_products, is_available, sums};
#[cfg(not(target_arch = "x86_64"))]
use no_instruction::{add_products, is_available, sums};

#[cfg(target_arch = "x86_64")]
mod instruction;

/// What is called on machines that have no such instruction: nothing but the question whether they have.
#[cfg(not(target_arch = "x86_64"))]
mod no_instruction {
    use super::{Pair, Plane, bf16};

    pub(super) fn is_available() -> bool {
        false
    }

    pub(super) fn sums<const F: usize>(
        _: &Plane,
        _: &[[Pair; F]],
        _: [f32; F],
        _: &[Pair],
        _: &mut [f32],
        _: usize,
    ) {
        unreachable!("this machine has no pairs");
    }

    pub(super) fn add_products<const F: usize, const K: usize>(
        _: usize,
        _: [&[bf16]; F],
        _: [&[bf16]; K],
        _: &mut [f32],
    ) {
        unreachable!("this machine has no pairs");
    }
}

/// Two elements that are multiplied at once.
pub(super) type Pair = [bf16; 2];

/// Positions that are handled at once.
pub(super) const POSITIONS: usize = 32;

/// Whether the machine multiplies pairs of this type.
pub(super) fn are_multiplied<T: Real>() -> bool {
    ElementType::of::<T>().is::<bf16>() && is_available()
}

/// Whether no element is subnormal.
pub(super) fn are_exact<T: Real>(elements: &[T]) -> bool {
    // Without a way out of the loop, it is one in vectors.
    bytemuck::cast_slice::<T, u16>(elements)
        .chunks(4096)
        .all(|bits| !bits.iter().fold(false, |found, bits| found | (bits & 0x7f80 == 0 && bits & 0x7f != 0)))
}

/// Pairs of so many channels.
fn pairs_of(channels: usize) -> usize {
    channels.div_ceil(2)
}

/// Planes and filters of a convolution, in pairs of channels.
pub(super) struct ChannelPairs<'a> {
    shape: Filters,
    planes: &'a mut [Pair],
    filters: &'a mut [Pair],
}

impl<'a> ChannelPairs<'a> {
    /// The lengths of its planes, of which `beyond` elements past the last may be read, and of its filters.
    pub(super) fn lengths(plane: &Plane, shape: &Filters, beyond: usize) -> [usize; 2] {
        let pairs = pairs_of(shape.in_channels);
        [plane.buffer_len(pairs, beyond), shape.out_channels * pairs * shape.taps]
    }

    /// Packs filters of type `bf16`.
    pub(super) fn new<T: Real>(
        shape: Filters,
        filters: &[T],
        order: Order,
        [planes, packed]: [&'a mut [Pair]; 2],
    ) -> Self {
        let filters: &[bf16] = bytemuck::cast_slice(filters);
        planes.fill([bf16::ZERO; 2]);
        shape.pack_channels(pairs_of(shape.in_channels), packed, |filter, pair, tap| {
            [2 * pair, 2 * pair + 1].map(|channel| {
                let is_there = channel < shape.in_channels;
                if is_there { filters[shape.place(order, filter, channel, tap)] } else { bf16::ZERO }
            })
        });
        Self { shape, planes, filters: packed }
    }

    /// Copies an image into planes; false if it has elements that the instruction takes for others.
    pub(super) fn border<T: Real>(&mut self, plane: &Plane, image: &[T]) -> bool {
        let image: &[bf16] = bytemuck::cast_slice(image);
        let [rows, columns] = plane.image;
        let channels = image.chunks(2 * rows * columns);
        for (channels, to) in channels.zip(self.planes.chunks_exact_mut(plane.len())) {
            let (even, odd) = channels.split_at(rows * columns);
            for row in 0..rows {
                let to = &mut to[(plane.padding[0] + row) * plane.width() + plane.padding[1]..][..columns];
                let even = &even[row * columns..][..columns];
                match odd.get(row * columns..) {
                    Some(odd) if !odd.is_empty() => interleave(even, &odd[..columns], to),
                    _ => to.iter_mut().zip(even).for_each(|(to, &even)| *to = [even, bf16::ZERO]),
                }
            }
        }
        are_exact(image)
    }

    /// The sums of `F` filters from number `begin` on, at all positions, to parts of `sums` that are `sums_len` long.
    pub(super) fn sums<C: Real, const F: usize>(
        &self,
        plane: &Plane,
        begin: usize,
        bias: [C; F],
        sums_of_filters: &mut [C],
        sums_len: usize,
    ) {
        let of_filter = pairs_of(self.shape.in_channels) * self.shape.taps;
        let (filters, _) = self.filters[begin * of_filter..][..F * of_filter].as_chunks::<F>();
        let bias = bias.map(|bias| bytemuck::cast(bias));
        sums(plane, filters, bias, self.planes, bytemuck::cast_slice_mut(sums_of_filters), sums_len);
    }
}

#[inline(always)]
fn interleave(even: &[bf16], odd: &[bf16], to: &mut [Pair]) {
    for ((to, &even), &odd) in to.iter_mut().zip(even).zip(odd) {
        *to = [even, odd];
    }
}

/// Planes of an image and the gradient by its sums, as they are.
pub(super) struct PositionPairs<'a> {
    pub(super) planes: &'a mut [bf16],
    pub(super) parts: &'a mut [bf16],
}

impl PositionPairs<'_> {
    /// Copies an image into planes, and rounds the gradient, of which every element is a `bf16` already; false if one of
    /// them has elements that the instruction takes for others. What lies around the planes is zero from the beginning.
    pub(super) fn take<T: Real>(&mut self, plane: &Plane, image: &[T], parts: &[T::Compute]) -> bool {
        let image: &[bf16] = bytemuck::cast_slice(image);
        let [rows, columns] = plane.image;
        for (image, to) in image.chunks_exact(rows * columns).zip(self.planes.chunks_exact_mut(plane.len())) {
            for (row, image) in image.chunks_exact(columns).enumerate() {
                let first = (plane.padding[0] + row) * plane.width() + plane.padding[1];
                to[first..][..columns].copy_from_slice(image);
            }
        }
        let rounded = &mut self.parts[..parts.len()];
        bf16::narrow_slice(bytemuck::cast_slice(parts), rounded);
        are_exact(image) && are_exact(rounded)
    }

    /// Adds the products of `F` parts from number `begin` on, each `part_len` long, with `K` windows of the planes to vectors
    /// of sums, `[K, F, lanes]`.
    pub(super) fn add_products<C: Real, const F: usize, const K: usize>(
        &self,
        positions: usize,
        begin: usize,
        part_len: usize,
        windows: [usize; K],
        sums: &mut [C],
    ) {
        let elements = positions.next_multiple_of(POSITIONS);
        let mut parts = [[].as_slice(); F];
        for (filter, part) in parts.iter_mut().enumerate() {
            *part = &self.parts[(begin + filter) * part_len..][..elements];
        }
        let windows = windows.map(|window| &self.planes[window..][..elements]);
        add_products(elements / POSITIONS, parts, windows, bytemuck::cast_slice_mut(sums));
    }
}
