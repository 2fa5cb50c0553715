//! [`convolve`]: for each image, prepares the planes and then computes the sums of some filters at a time, which the
//! [`Epilogue`] takes.
//!
//! The lanes hold positions ([`by_positions`]), filters ([`by_filters`](super::by_filters)), or pairs ([`bf16_dot`]).

mod by_positions;

use std::ops::Range;

use dahl_core::{Element, Real};
use pulp::{Simd, WithSimd};

use super::bf16_dot::{self, ChannelPairs, Lengths};
use super::by_filters::{FilterVectors, Group};
use super::filters::{Filters, MOST, Order, blocks_of_units};
use super::images::Images;
use super::plane::Plane;
use crate::cpu::bf16_dot::Pair;
use crate::cpu::lanes::{Lanes, MOST_LANES, in_vectors};
use crate::cpu::prefetch::Prefetch;
use crate::cpu::scratch::with_scratch;
use crate::cpu::tiles::{BLOCK, Step};

use by_positions::{ByPositions, MOST_VECTORS};

/// What a convolution does with its sums.
pub(crate) trait Epilogue<C> {
    /// The required padding: how many sums past the last one it may read; their values have no meaning.
    fn required_padding(&self) -> usize {
        0
    }

    /// The memory that it will write for these filters of an image whose sums have this plane: prefetched while they
    /// are computed.
    fn written(&self, plane: &Plane, image: usize, filters: Range<usize>) -> [&[u8]; 2];

    /// Takes the sums of an image and a filter; `place` is their numbers. The sum of row `r` and column `c` is at `r *
    /// width + c`, with the width of `plane`, whose output is that of the convolution. Images come in order, and so do
    /// the filters of each: it may write past the end of a plane, which later ones overwrite.
    fn take<S: Simd>(&mut self, simd: S, plane: &Plane, place: [usize; 2], sums: &mut [C]);
}

/// Writes the sums to the output, `[batch, out_channels, rows, columns]`.
pub(crate) struct Write<'a, T> {
    pub(crate) out: &'a mut [T],
    pub(crate) out_channels: usize,
}

impl<T: Real<Compute: Lanes>> Epilogue<T::Compute> for Write<'_, T> {
    fn written(&self, plane: &Plane, image: usize, filters: Range<usize>) -> [&[u8]; 2] {
        [bytemuck::cast_slice(plane.channels(self.out_channels).of(self.out, image, filters)), &[]]
    }

    #[inline(always)]
    fn take<S: Simd>(
        &mut self,
        simd: S,
        plane: &Plane,
        [image, filter]: [usize; 2],
        sums: &mut [T::Compute],
    ) {
        let out = plane.channels(self.out_channels).of_mut(self.out, image, filter);
        plane.gather(simd, sums, out);
    }
}

/// `out[n, f, r, c] = bias[f] + sum over i, j, k of filters[f, i, j, k] * image[n, i, r + j - padding, c + k - padding]`,
/// which `epilogue` takes; without a bias, the sums start at 0.
///
/// # Shapes
/// `images: [batch, in_channels, rows, columns]`, `filters` as `order` says, `bias: [out_channels]`.
pub(crate) fn convolve<T: Real<Compute: Lanes>, E: Epilogue<T::Compute>>(
    plane: Plane,
    shape: Filters,
    images: Images<'_, T>,
    (filters, order): (&[T], Order),
    bias: Option<&[T::Compute]>,
    epilogue: E,
) {
    const BEYOND: usize = MOST_VECTORS * MOST_LANES;
    // The vectors of the last positions extend past them, whatever their number.
    let sums_len = (plane.positions() + epilogue.required_padding() + BEYOND).next_multiple_of(MOST_LANES);
    // A pair of one channel would be half empty.
    let in_pairs = bf16_dot::is_worthwhile::<T>(&shape) && shape.in_channels > 1;
    let by_filters =
        FilterVectors::new::<T::Compute>(shape).filter(|vectors| vectors.makes_sums_of::<T::Compute>(&plane));
    let pairs_by_filters = in_pairs.then(|| ChannelPairs::by_filters(&plane, &shape)).flatten();
    let in_lanes = [by_filters, pairs_by_filters].into_iter().flatten();
    let at_once = if bf16_dot::is_tiled::<T>(&shape) { BLOCK } else { MOST };
    let at_once = in_lanes.clone().map(|filters| filters.at_once()).fold(at_once, usize::max);
    let lengths = [
        plane.buffer_len(shape.in_channels, BEYOND),
        at_once * sums_len,
        by_filters.map_or(shape.len(), |by_filters| by_filters.len()),
        in_lanes.map(|filters| filters.by_position_len()).max().unwrap_or(0),
    ];
    with_pairs(in_pairs.then(|| ChannelPairs::lengths(&plane, &shape, BEYOND)), |buffers| {
        let pairs =
            buffers.and_then(|buffers| ChannelPairs::new(shape, &plane, (filters, order), bias, buffers));
        with_scratch(lengths, |[planes, sums, packed, by_position]: [&mut [T::Compute]; 4]| {
            let filters = (filters, order);
            let singles = Singles {
                filters,
                by_filters,
                is_ready: false,
                are_finite: false,
                unpacked: None,
                planes,
                packed,
                by_position,
            };
            in_vectors(Convolve { plane, shape, images, bias, epilogue, pairs, singles, sums, sums_len });
        });
    });
}

/// Buffers of [`ChannelPairs`].
type PairBuffers<'a> = ([&'a mut [Pair]; 2], &'a mut [f32], &'a mut [Step]);

/// Calls `f` with buffers of these lengths, or with none.
fn with_pairs<R>(lengths: Option<Lengths>, f: impl FnOnce(Option<PairBuffers<'_>>) -> R) -> R {
    let Some(Lengths { pairs, initial, steps }) = lengths else { return f(None) };
    with_scratch(pairs, |pairs| {
        with_scratch([initial], |[initial]: [&mut [f32]; 1]| {
            with_scratch([steps], |[steps]: [&mut [Step]; 1]| f(Some((pairs, initial, steps))))
        })
    })
}

struct Convolve<'a, T: Real, E> {
    plane: Plane,
    shape: Filters,
    images: Images<'a, T>,
    bias: Option<&'a [T::Compute]>,
    epilogue: E,
    /// Planes and filters in pairs, if the machine multiplies those.
    pairs: Option<ChannelPairs<'a>>,
    singles: Singles<'a, T>,
    sums: &'a mut [T::Compute],
    /// The length of one filter's sums.
    sums_len: usize,
}

/// Planes and filters element by element, in the compute type.
struct Singles<'a, T: Real> {
    filters: (&'a [T], Order),
    /// If vectors hold filters.
    by_filters: Option<FilterVectors>,
    /// Whether filters are packed: the first image that is not in pairs does that.
    is_ready: bool,
    /// Whether the packed filters are finite.
    are_finite: bool,
    /// The planes of the image, if they need no copy.
    unpacked: Option<&'a [T::Compute]>,
    planes: &'a mut [T::Compute],
    packed: &'a mut [T::Compute],
    /// Buffered sums of vectors of filters that are not transposed yet.
    by_position: &'a mut [T::Compute],
}

impl<'a, T: Real<Compute: Lanes>> Singles<'a, T> {
    /// The planes of the current image.
    fn planes(&self) -> &[T::Compute] {
        self.unpacked.unwrap_or(self.planes)
    }

    /// Makes image `number` the current one. The first call packs the filters.
    #[inline(always)]
    fn take<S: Simd>(
        &mut self,
        simd: S,
        plane: &Plane,
        shape: &Filters,
        (images, number): (Images<'a, T>, usize),
    ) {
        if !self.is_ready {
            self.is_ready = true;
            self.planes.fill(T::Compute::ZERO); // their borders, and what is read behind the last one
            let (filters, order) = self.filters;
            match self.by_filters {
                Some(by_filters) => self.are_finite = by_filters.pack(filters, order, self.packed),
                None => shape.pack(filters, order, self.packed),
            }
        }
        self.unpacked = plane.unpacked(images.from(number), self.planes.len());
        if self.unpacked.is_none()
            && let Some(image) = images.get(number)
        {
            plane.border(simd, image, self.planes);
        }
    }
}

/// The planes of an image, and the sums of a few filters at their positions.
pub(super) struct Sums<'a, P, C> {
    pub(super) plane: &'a Plane,
    /// The elements of the planes.
    pub(super) planes: &'a [P],
    /// The sums, `sums_len` for each filter.
    pub(super) sums: &'a mut [C],
    pub(super) sums_len: usize,
}

/// How the sums of an image are computed.
#[derive(Clone, Copy)]
pub(super) enum Way {
    /// In pairs, in tiles,
    PairsInTiles,
    /// or with a filter in each lane,
    PairsByFilters(FilterVectors),
    /// or with a position in each lane.
    PairsByPositions,
    /// In single elements, with a filter in each lane,
    ByFilters(FilterVectors),
    /// or with a position in each lane.
    ByPositions,
}

impl Way {
    /// The blocks of `filters` whose sums are computed together: where each begins, and its size.
    fn blocks(self, filters: usize) -> impl Iterator<Item = (usize, usize)> + Clone {
        let (most, unit) = match self {
            Self::PairsInTiles => (BLOCK, BLOCK),
            Self::PairsByFilters(by_filters) | Self::ByFilters(by_filters) => {
                (by_filters.at_once(), by_filters.at_once())
            }
            Self::PairsByPositions | Self::ByPositions => (MOST, 1),
        };
        blocks_of_units(filters, most, unit)
    }
}

/// The initial sums of `size` filters from number `begin` on: at most [`MOST`].
fn initial<C: Element>(bias: Option<&[C]>, begin: usize, size: usize) -> [C; MOST] {
    let mut initial = [C::ZERO; MOST];
    if let Some(bias) = bias {
        initial[..size].copy_from_slice(&bias[begin..][..size]);
    }
    initial
}

impl<T: Real<Compute: Lanes>, E: Epilogue<T::Compute>> WithSimd for Convolve<'_, T, E> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let [single, paired] = [false, true].map(|in_pairs| {
            let way = self.way(in_pairs);
            (way, way.blocks(self.shape.out_channels))
        });
        for (number, image) in self.images.each().enumerate() {
            let in_pairs = self.pairs.as_mut().is_some_and(|pairs| pairs.border(&self.plane, image));
            if !in_pairs {
                self.singles.take(simd, &self.plane, &self.shape, (self.images, number));
            }
            // One loop for all, so that the epilogue is compiled once.
            let (way, blocks) = if in_pairs { paired.clone() } else { single.clone() };
            for (begin, size) in blocks {
                let row_len = self.add_up(simd, way, number, begin..begin + size);
                let is_spread = row_len == self.plane.width();
                let plane = if is_spread { self.plane } else { Plane::borderless(self.plane.output()) };
                let sums = self.sums.chunks_exact_mut(self.sums_len).take(size);
                for (filter, sums) in (begin..).zip(sums) {
                    self.epilogue.take(simd, &plane, [number, filter], sums);
                }
            }
        }
    }
}

impl<T: Real<Compute: Lanes>, E: Epilogue<T::Compute>> Convolve<'_, T, E> {
    /// How the sums of an image are computed, whose planes are in pairs or not.
    fn way(&self, in_pairs: bool) -> Way {
        match (&self.pairs, self.singles.by_filters) {
            (Some(pairs), _) if in_pairs => pairs.way(),
            (_, Some(by_filters)) => Way::ByFilters(by_filters),
            (_, None) => Way::ByPositions,
        }
    }

    /// The memory to prefetch while the sums of these filters of an image are computed: that which the epilogue will
    /// write, and the same fraction of the next image as these are of all filters.
    fn prefetch(&self, image: usize, filters: Range<usize>) -> Prefetch<3> {
        let next = self.images.get(image + 1).unwrap_or_default();
        let [begin, end] =
            [filters.start, filters.end].map(|filter| filter * next.len() / self.shape.out_channels);
        let [written, also_written] = self.epilogue.written(&self.plane, image, filters);
        Prefetch::new([bytemuck::cast_slice(&next[begin..end]), written, also_written])
    }

    /// Computes the sums of these filters of an image. Returns the distance of the rows of the output: that of
    /// positions, or without gaps.
    #[inline(always)]
    fn add_up<S: Simd>(&mut self, simd: S, way: Way, image: usize, filters: Range<usize>) -> usize {
        let (begin, size) = (filters.start, filters.len());
        let (plane, sums_len) = (&self.plane, self.sums_len);
        match (way, &self.pairs) {
            (Way::PairsInTiles, Some(pairs)) => {
                pairs.add_up_in_tiles((begin, size), plane, self.sums, sums_len);
            }
            (Way::PairsByFilters(_), Some(pairs)) => {
                let prefetch = self.prefetch(image, filters);
                let by_position = &mut *self.singles.by_position;
                let sums = (&mut *self.sums, sums_len);
                return pairs.add_up_by_filters(begin, self.bias, plane, sums, (by_position, prefetch));
            }
            (Way::PairsByPositions, Some(pairs)) => {
                let initial = initial(self.bias, begin, size);
                pairs.add_up(begin, &initial[..size], plane, self.sums, sums_len);
            }
            (Way::ByFilters(by_filters), _) => {
                let prefetch = self.prefetch(image, filters);
                return self.group(by_filters, by_filters.group(begin), prefetch);
            }
            (Way::ByPositions, _) => self.block(simd, begin, size),
            (Way::PairsInTiles | Way::PairsByFilters(_) | Way::PairsByPositions, None) => {
                unreachable!("`way` has found pairs")
            }
        }
        self.plane.width()
    }

    /// Computes the sums of a group of filters, for one image.
    fn group(&mut self, by_filters: FilterVectors, group: Group, prefetch: Prefetch<3>) -> usize {
        let Singles { unpacked, planes, packed, are_finite, by_position, .. } = &mut self.singles;
        let planes = unpacked.unwrap_or(planes);
        let sums = Sums { plane: &self.plane, planes, sums: self.sums, sums_len: self.sums_len };
        by_filters.add_up(group, (packed, *are_finite), self.bias, sums, (by_position, prefetch))
    }

    /// Computes the sums of `size` filters from number `begin` on, at most [`MOST`], for one image.
    #[inline(always)]
    fn block<S: Simd>(&mut self, simd: S, begin: usize, size: usize) {
        let initial = initial(self.bias, begin, size);
        let (plane, sums, sums_len) = (&self.plane, &mut *self.sums, self.sums_len);
        let of_filter = self.shape.in_channels * self.shape.taps;
        let filters = &self.singles.packed[begin * of_filter..][..size * of_filter];
        let sums = Sums { plane, planes: self.singles.planes(), sums, sums_len };
        // Prefetches the first channel of the next image during the first filters of this one.
        let is_next = begin == 0 && self.singles.unpacked.is_some();
        let ahead = is_next.then(|| self.shape.in_channels * plane.len());
        S::vectorize(simd, ByPositions { size, filters, initial, sums, ahead });
    }
}
