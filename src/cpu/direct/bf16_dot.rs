//! [`ChannelPairs`] and [`PositionPairs`]: the sums of [`convolve`](super::convolve()) and
//! [`gradient`](super::gradient()) for `bf16`, by the instruction that multiplies pairs and adds both products to an
//! `f32` (AVX512-BF16), where that is [fast](bf16_dot::is_fast).
//!
//! * A convolution has two channels side by side in a pair, in planes and in filters. The last one of an odd number of
//!   channels is paired with zeros. The lanes hold filters, if there are many, as with [other
//!   types](super::by_filters), or positions.
//! * A gradient has two positions in a pair, which are side by side already. Here too, the lanes hold filters or pairs
//!   of positions.
//!
//! Where the machine multiplies whole [tiles](crate::cpu::tiles), tiles multiply the same pairs: `tiles.rs`.
//!
//! Numbers for which the instruction would not be [exact](bf16_dot::are_exact) take the loops of all other types: if a
//! filter or a bias has them, for all images of the call; if an image has them, for that image alone.

use dahl_core::{ElementType, Real};
use half::bf16;

use super::by_filters::{Bf16Dot, FilterVectors, Products, Singles, in_bf16_dot_vectors};
use super::convolve::{Sums, Way};
use super::filters::{Filters, Order, of_size};
use super::plane::Plane;
use crate::cpu::bf16_dot::{self, Pair, are_exact};
use crate::cpu::prefetch::Prefetch;
use crate::cpu::tiles::Step;
#[cfg(target_arch = "x86_64")]
use instruction::{add_products, add_up, border};
#[cfg(not(target_arch = "x86_64"))]
use no_instruction::{add_products, add_up, border};

#[cfg(target_arch = "x86_64")]
mod instruction;
mod tiles;

pub(super) use tiles::{TiledFilters, TiledGradient, are_worthwhile as tiles_are_worthwhile};

/// Replaces `instruction` on machines without it; never called.
#[cfg(not(target_arch = "x86_64"))]
mod no_instruction {
    use super::{Pair, Plane, Sums, bf16};

    pub(super) fn border(_: &Plane, _: &[bf16], _: &mut [Pair]) {
        unreachable!("this machine has no pairs");
    }

    pub(super) fn add_up<const F: usize>(_: &[[Pair; F]], _: [f32; F], _: Sums<'_, Pair, f32>) {
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

/// Positions that are computed together.
pub(super) const POSITIONS: usize = 32;

/// Whether pairs of this type are faster than its compute type.
pub(super) fn is_worthwhile<T: Real>(shape: &Filters) -> bool {
    let is_supported = ElementType::of::<T>().is::<bf16>() && bf16_dot::is_supported();
    is_supported && (tiles_are_worthwhile(shape) || bf16_dot::is_fast())
}

/// Whether the sums of this type are computed in tile registers.
pub(super) fn is_tiled<T: Real>(shape: &Filters) -> bool {
    is_worthwhile::<T>(shape) && tiles_are_worthwhile(shape)
}

/// The number of pairs of so many channels.
fn pairs_of(channels: usize) -> usize {
    channels.div_ceil(2)
}

/// Planes and filters of a convolution, in pairs of channels.
pub(super) struct ChannelPairs<'a> {
    shape: Filters,
    planes: &'a mut [Pair],
    filters: PairedFilters<'a>,
}

/// Filters, in the order in which they are multiplied.
enum PairedFilters<'a> {
    /// With a position in each lane: in blocks of a few filters.
    ByPositions(&'a mut [Pair]),
    /// With a filter in each lane.
    ByFilters(FilterVectors, &'a mut [Pair]),
    InTiles(TiledFilters<'a>),
}

/// The lengths of the buffers of [`ChannelPairs`].
pub(super) struct Lengths {
    /// Those of planes and of filters.
    pub(super) pairs: [usize; 2],
    /// That of the initial sums of filters.
    pub(super) initial: usize,
    pub(super) steps: usize,
}

impl<'a> ChannelPairs<'a> {
    /// The lengths of its buffers, if up to `beyond` elements past the last of its planes may be read.
    pub(super) fn lengths(plane: &Plane, shape: &Filters, beyond: usize) -> Lengths {
        if tiles_are_worthwhile(shape) {
            let [filters, initial] = TiledFilters::lengths(shape);
            let planes = plane.buffer_len(TiledFilters::planes(shape), beyond);
            return Lengths { pairs: [planes, filters], initial, steps: TiledFilters::steps(shape) };
        }
        let pairs = pairs_of(shape.in_channels);
        let planes = plane.buffer_len(pairs, beyond);
        let filters = match Self::by_filters(plane, shape) {
            Some(by_filters) => by_filters.len(),
            None => shape.out_channels * pairs * shape.taps,
        };
        Lengths { pairs: [planes, filters], initial: 0, steps: 0 }
    }

    /// The vectors of filters that sums in pairs use, with a pair for two channels; none if they are by position.
    pub(super) fn by_filters(plane: &Plane, shape: &Filters) -> Option<FilterVectors> {
        if tiles_are_worthwhile(shape) {
            return None;
        }
        FilterVectors::new::<f32>(Filters { in_channels: pairs_of(shape.in_channels), ..*shape })
            .filter(|by_filters| by_filters.has_memory_for::<f32>(plane))
    }

    /// Packs filters of type `bf16`; none if the filters or the bias are not exact.
    pub(super) fn new<T: Real>(
        shape: Filters,
        plane: &Plane,
        (filters, order): (&[T], Order),
        bias: Option<&[T::Compute]>,
        ([planes, packed], initial, steps): ([&'a mut [Pair]; 2], &'a mut [f32], &'a mut [Step]),
    ) -> Option<Self> {
        let filters: &[bf16] = bytemuck::cast_slice(filters);
        let bias = bias.map(bytemuck::cast_slice::<_, f32>);
        if !are_exact(filters) || !bias.is_none_or(bf16_dot::are_exact_sums) {
            return None;
        }
        planes.fill([bf16::ZERO; 2]);
        let element = |filter, pair: usize, tap| {
            [2 * pair, 2 * pair + 1].map(|channel| {
                let is_there = channel < shape.in_channels;
                if is_there { filters[shape.place(order, filter, channel, tap)] } else { bf16::ZERO }
            })
        };
        let filters = if tiles_are_worthwhile(&shape) {
            PairedFilters::InTiles(TiledFilters::pack(&shape, plane, bias, (packed, initial), steps, element))
        } else if let Some(by_filters) = Self::by_filters(plane, &shape) {
            by_filters.pack_channels(packed, [bf16::ZERO; 2], element);
            PairedFilters::ByFilters(by_filters, packed)
        } else {
            shape.pack_channels(pairs_of(shape.in_channels), packed, element);
            PairedFilters::ByPositions(packed)
        };
        Some(Self { shape, planes, filters })
    }

    /// How its sums are computed.
    pub(super) fn way(&self) -> Way {
        match self.filters {
            PairedFilters::InTiles(_) => Way::PairsInTiles,
            PairedFilters::ByFilters(by_filters, _) => Way::PairsByFilters(by_filters),
            PairedFilters::ByPositions(_) => Way::PairsByPositions,
        }
    }

    /// Copies an image into planes; false if it is not exact.
    pub(super) fn border<T: Real>(&mut self, plane: &Plane, image: &[T]) -> bool {
        let image: &[bf16] = bytemuck::cast_slice(image);
        // Checking the whole image first brings it into the cache: one loop that does both takes longer.
        let is_exact = are_exact(image);
        if is_exact {
            border(plane, image, self.planes);
        }
        is_exact
    }

    /// Computes the sums of up to [`BLOCK`](crate::cpu::tiles::BLOCK) filters from number `begin` on, at all positions.
    /// Each filter's part of `sums` is `sums_len` long.
    pub(super) fn add_up_in_tiles<C: Real>(
        &self,
        block: (usize, usize),
        plane: &Plane,
        sums: &mut [C],
        sums_len: usize,
    ) {
        let PairedFilters::InTiles(filters) = &self.filters else { unreachable!("filters are in tiles") };
        filters.add_up(block, plane, self.planes, bytemuck::cast_slice_mut(sums), sums_len);
    }

    /// Computes the sums of the group of filters that begins with number `begin`, at all positions. Each filter's part
    /// of `sums` is `sums_len` long. Returns the distance of the rows of the output.
    pub(super) fn add_up_by_filters<C: Real>(
        &self,
        begin: usize,
        bias: Option<&[C]>,
        plane: &Plane,
        (sums, sums_len): (&mut [C], usize),
        (by_position, prefetch): (&mut [C], Prefetch<3>),
    ) -> usize {
        let PairedFilters::ByFilters(by_filters, packed) = &self.filters else {
            unreachable!("filters are in lanes")
        };
        let sums = Sums { plane, planes: self.planes, sums: bytemuck::cast_slice_mut(sums), sums_len };
        let (bias, by_position) = (bias.map(bytemuck::cast_slice), bytemuck::cast_slice_mut(by_position));
        by_filters.add_up_by_bf16_dot(by_filters.group(begin), packed, bias, sums, (by_position, prefetch))
    }

    /// Computes the sums of a block of filters from number `begin` on, starting from `initial`, at all positions. Each
    /// filter's part of `sums` is `sums_len` long.
    pub(super) fn add_up<C: Real>(
        &self,
        begin: usize,
        initial: &[C],
        plane: &Plane,
        sums: &mut [C],
        sums_len: usize,
    ) {
        assert_eq!(size_of::<C>(), size_of::<f32>(), "the compute type of `bf16`");
        let sums = Sums { plane, planes: self.planes, sums: bytemuck::cast_slice_mut(sums), sums_len };
        self.add_up_by_positions(begin, bytemuck::cast_slice(initial), sums);
    }

    /// [`add_up`](Self::add_up) of `f32`.
    fn add_up_by_positions(&self, begin: usize, initial: &[f32], sums: Sums<'_, Pair, f32>) {
        let PairedFilters::ByPositions(filters) = &self.filters else {
            unreachable!("positions are in lanes")
        };
        let of_filter = pairs_of(self.shape.in_channels) * self.shape.taps;
        let filters = &filters[begin * of_filter..][..initial.len() * of_filter];
        of_size!(initial.len(), F => {
            let initial = initial.try_into().expect("as many as asked for");
            add_up::<F>(filters.as_chunks().0, initial, sums);
        });
    }
}

/// Planes of an image and the gradient by its sums, as pairs of neighbouring positions.
pub(super) struct PositionPairs<'a> {
    pub(super) planes: &'a mut [bf16],
    /// The planes from their second element on; empty if [`add_products_by_filters`](Self::add_products_by_filters) is not called.
    pub(super) from_second: &'a mut [bf16],
    pub(super) parts: &'a mut [bf16],
    /// The sums, if they are computed in tiles.
    pub(super) tiled: Option<TiledGradient<'a>>,
}

impl PositionPairs<'_> {
    /// Copies an image into planes; false if it is not exact. The borders of the planes are zero from the beginning.
    pub(super) fn take_image<T: Real>(&mut self, plane: &Plane, image: &[T]) -> bool {
        let image: &[bf16] = bytemuck::cast_slice(image);
        let [rows, columns] = plane.image;
        if plane.padding == [0, 0] {
            self.planes[..image.len()].copy_from_slice(image);
        } else {
            for (image, to) in
                image.chunks_exact(rows * columns).zip(self.planes.chunks_exact_mut(plane.len()))
            {
                for (row, image) in image.chunks_exact(columns).enumerate() {
                    let first = (plane.padding[0] + row) * plane.width() + plane.padding[1];
                    to[first..][..columns].copy_from_slice(image);
                }
            }
        }
        if let Some((_, from_second)) = self.from_second.split_last_mut() {
            from_second.copy_from_slice(&self.planes[1..]);
        }
        are_exact(image)
    }

    /// Rounds the gradient of an image, each element of which is exactly a `bf16`; false if it is not exact for the
    /// instruction.
    pub(super) fn take_parts<C: Real>(&mut self, parts: &[C]) -> bool {
        let rounded = &mut self.parts[..parts.len()];
        bf16::narrow_slice(bytemuck::cast_slice(parts), rounded);
        are_exact(rounded)
    }

    /// The gradient of an image, with rows of `columns` elements, as pairs in place: if no pair spans two rows, and the
    /// slice is aligned for `f32`.
    fn unpacked(given: &[bf16], columns: usize) -> Option<&[f32]> {
        if columns.is_multiple_of(2) { bytemuck::try_cast_slice(given).ok() } else { None }
    }

    /// Copies the gradient of an image, with rows of `output` for each filter, to rows `width` apart, in parts of
    /// `part_len`, unless it is read in place; false if an element is not exact.
    pub(super) fn take_given(
        &mut self,
        given: &[bf16],
        [rows, columns]: [usize; 2],
        [width, part_len]: [usize; 2],
    ) -> bool {
        if Self::unpacked(given, columns).is_none() {
            for (given, part) in given.chunks_exact(rows * columns).zip(self.parts.chunks_exact_mut(part_len))
            {
                for (given, row) in given.chunks_exact(columns).zip(part.chunks_exact_mut(width)) {
                    row[..columns].copy_from_slice(given);
                    row[columns..].fill(bf16::ZERO);
                }
            }
        }
        are_exact(given)
    }

    /// Adds the products of the current image to the sums of all filters; false if sums are not computed in tiles.
    pub(super) fn add_image_in_tiles(&mut self, plane: &Plane, filters: usize, part_len: usize) -> bool {
        let Some(tiled) = &mut self.tiled else { return false };
        tiled.add_image(plane, self.planes, &self.parts[..filters * part_len], part_len);
        true
    }

    /// Adds the products of the current image and gradient in pairs, or of a gradient that was
    /// [given](Self::take_given), in the place of those in the compute type.
    pub(super) fn add_products_by_filters<C: Real>(
        &self,
        given: Option<&[bf16]>,
        products: Products<'_, C, Singles>,
    ) {
        let Products { vectors, plane, part_len, columns, transposed, prefetch, sums, .. } = products;
        let (parts, part_len) = match given.and_then(|given| Self::unpacked(given, plane.output()[1])) {
            Some(given) => (given, plane.outputs()),
            None => (bytemuck::cast_slice(self.parts), part_len),
        };
        // Pairs are passed as elements with the same bits.
        let multiply = Bf16Dot::new();
        let products = Products::<f32, Bf16Dot> {
            multiply,
            vectors,
            plane,
            planes: [&*self.planes, &*self.from_second].map(bytemuck::cast_slice),
            parts,
            part_len: part_len / 2,
            columns: columns / 2,
            transposed: bytemuck::cast_slice_mut(transposed),
            prefetch,
            sums: bytemuck::cast_slice_mut(sums),
        };
        in_bf16_dot_vectors(multiply, products);
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

#[cfg(test)]
mod tests;
