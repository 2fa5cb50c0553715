//! [`gradient`]: the gradient by the filters: for each image, prepares the planes and the gradient by the sums, and
//! adds their products to sums over all images.
//!
//! The lanes hold positions ([`by_positions`]), filters ([`Products`]), or pairs ([`bf16_dot`]).

mod by_positions;

use std::ops::Range;

use dahl_core::{Element, Real};
use half::bf16;
use pulp::{Simd, WithSimd};

use super::bf16_dot::{self, POSITIONS, PositionPairs, TiledGradient};
use super::by_filters::{FilterVectors, Products, Singles};
use super::filters::{Filters, MOST, blocks, blocks_of_units};
use super::images::Images;
use super::plane::Plane;
use super::source::Source;
use crate::cpu::bf16_dot::Pair;
use crate::cpu::lanes::{Lanes, MOST_LANES, in_vectors};
use crate::cpu::prefetch::Prefetch;
use crate::cpu::scratch::with_scratch;
use crate::cpu::tiles::{BLOCK, Step};

use by_positions::{ByPositions, most_filters};

/// The most bytes of vectors of sums that are kept over all images.
const SUMS_BYTES: usize = 4 << 20;

/// `filters_gradient[f, i, j, k] += sum over n, r, c of gradient[n, f, r, c] * image[n, i, r + j - padding, c + k - padding]`.
///
/// # Shapes
/// `images: [batch, in_channels, rows, columns]`, `gradient` as the output, `filters_gradient: [out_channels, in_channels, taps]`.
pub(crate) fn gradient<T: Real<Compute: Lanes>, G: Source<T::Compute>>(
    plane: Plane,
    shape: Filters,
    images: Images<'_, T>,
    gradient: G,
    filters_gradient: &mut [T::Compute],
) {
    assert_eq!(filters_gradient.len(), shape.len());
    // Each group of filters copies the images to planes again; mostly there is one group.
    let by_filters = FilterVectors::new::<T::Compute>(shape).filter(|_| {
        Products::<T::Compute, Singles>::has_channels(&shape) && !bf16_dot::is_tiled::<T>(&shape)
    });
    let unit = by_filters.map_or(1, |by_filters| by_filters.at_once());
    let parts_plane = match by_filters {
        Some(_) if bf16_dot::is_worthwhile::<T>(&shape) => Plane::of_even_rows(plane.output()),
        Some(_) => Plane::borderless(plane.output()),
        None => plane,
    };
    let part_len = (parts_plane.positions() + gradient.required_padding()).next_multiple_of(POSITIONS);
    let of_filter = shape.in_channels * shape.taps * if by_filters.is_some() { 1 } else { MOST_LANES };
    let at_once = (SUMS_BYTES / size_of::<T::Compute>() / of_filter).max(MOST).max(unit);
    let at_once = if bf16_dot::is_tiled::<T>(&shape) { at_once.next_multiple_of(BLOCK) } else { at_once };
    let filters = shape.out_channels.min(at_once);
    let lengths = [
        plane.buffer_len(shape.in_channels, POSITIONS),
        filters * part_len,
        by_filters.map_or(filters * of_filter, |by_filters| by_filters.with_filters(filters).len()),
        by_filters.map_or(0, |_| Products::<T::Compute, Singles>::TRANSPOSED),
    ];
    with_pairs::<T, _>(&plane, &shape, filters, (part_len, by_filters.is_some()), |pairs| {
        with_scratch(lengths, |[planes, parts, sums, transposed]: [&mut [T::Compute]; 4]| {
            let work = Gradient {
                plane,
                shape,
                at_once,
                unit,
                images,
                gradient,
                filters_gradient,
                pairs,
                unpacked: None,
                planes,
                is_filled: false,
                parts_plane,
                parts,
                part_len,
                sums,
                has_sums: false,
                by_filters,
                transposed,
            };
            in_vectors(work);
        });
    });
}

/// Calls `f` with planes and a gradient in pairs of `T`, if the machine multiplies those.
fn with_pairs<T: Real, R>(
    plane: &Plane,
    shape: &Filters,
    filters: usize,
    (part_len, by_filters): (usize, bool),
    f: impl FnOnce(Option<PositionPairs<'_>>) -> R,
) -> R {
    if !bf16_dot::is_worthwhile::<T>(shape) {
        return f(None);
    }
    let is_tiled = bf16_dot::is_tiled::<T>(shape);
    let channels = if is_tiled { TiledGradient::planes(shape) } else { shape.in_channels };
    let [tiled_parts, sums, steps] =
        if is_tiled { TiledGradient::lengths(shape, filters, plane.positions()) } else { [0; 3] };
    let planes_len = plane.buffer_len(channels, POSITIONS).next_multiple_of(2);
    with_scratch(
        [planes_len, if by_filters { planes_len } else { 0 }, filters * part_len],
        |[planes, from_second, parts]: [&mut [bf16]; 3]| {
            planes.fill(bf16::ZERO);
            from_second.fill(bf16::ZERO);
            with_scratch([tiled_parts], |[tiled_parts]: [&mut [Pair]; 1]| {
                with_scratch([sums], |[sums]: [&mut [f32]; 1]| {
                    with_scratch([steps], |[steps]: [&mut [Step]; 1]| {
                        let tiled = is_tiled.then(|| TiledGradient::new(*shape, tiled_parts, sums, steps));
                        f(Some(PositionPairs { planes, from_second, parts, tiled }))
                    })
                })
            })
        },
    )
}

struct Gradient<'a, T: Real, G> {
    plane: Plane,
    shape: Filters,
    /// The most filters whose sums are kept at a time.
    at_once: usize,
    /// Filters per block of sums.
    unit: usize,
    images: Images<'a, T>,
    gradient: G,
    filters_gradient: &'a mut [T::Compute],
    /// The planes and the gradient in their own type, if the machine multiplies pairs of it.
    pairs: Option<PositionPairs<'a>>,
    /// The planes of the image, if they need no copy.
    unpacked: Option<&'a [T::Compute]>,
    planes: &'a mut [T::Compute],
    /// Whether all of the planes' memory is initialised.
    is_filled: bool,
    /// The gradient of an image by the sums of some filters, at the positions of `parts_plane`, `part_len` elements for
    /// each filter.
    parts: &'a mut [T::Compute],
    /// The plane of the image; without a border if vectors hold filters.
    parts_plane: Plane,
    part_len: usize,
    /// The sums over all images, for some filters, all channels and all taps. Each is a vector, since adding up its
    /// lanes takes as long as a few rows. If vectors hold filters, each is one element.
    sums: &'a mut [T::Compute],
    /// Whether any filter has such sums: not if all were computed in tiles.
    has_sums: bool,
    /// If vectors hold filters.
    by_filters: Option<FilterVectors>,
    /// A part of the gradient by the sums, with the filters of each position side by side.
    transposed: &'a mut [T::Compute],
}

impl<T: Real<Compute: Lanes>, G: Source<T::Compute>> WithSimd for Gradient<'_, T, G> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        for (begin, filters) in blocks_of_units(self.shape.out_channels, self.at_once, self.unit) {
            self.has_sums = false;
            if let Some(tiled) = self.tiled() {
                tiled.begin();
            }
            // Sums in pairs flush very small numbers to 0, so the sums must have none when pairs are added.
            let mut may_be_pairs = true;
            for (number, image) in self.images.each().enumerate() {
                let parts = &mut self.parts[..filters * self.part_len];
                let (plane, numbers) = (&self.parts_plane, begin..begin + filters);
                let mut is_given = self.by_filters.is_some()
                    && self.gradient.given(plane, number, numbers.clone()).is_some();
                if may_be_pairs && let Some(pairs) = &mut self.pairs {
                    let output = self.plane.output();
                    let given = self.gradient.given_to_bf16_dot(plane, number, numbers.clone());
                    let are_exact = if let Some(given) = given.filter(|_| self.by_filters.is_some()) {
                        pairs.take_given(given, output, [plane.width(), self.part_len])
                    } else {
                        self.gradient.fill(simd, plane, number, numbers.clone(), parts, self.part_len);
                        is_given = true;
                        pairs.take_parts(parts)
                    };
                    may_be_pairs = are_exact && pairs.take_image(&self.plane, image);
                }
                let in_pairs = may_be_pairs && self.pairs.is_some();
                if !in_pairs {
                    if !is_given {
                        self.gradient.fill(simd, plane, number, numbers.clone(), parts, self.part_len);
                    }
                    self.unpacked = self.plane.unpacked(self.images.from(number), self.planes.len());
                    if self.unpacked.is_none() {
                        self.border(simd, image);
                    }
                }
                self.add_image(simd, number, numbers, in_pairs);
            }
            self.add_sums(simd, begin, filters);
        }
    }
}

impl<'a, T: Real, G> Gradient<'a, T, G> {
    /// The sums that are computed in tiles.
    fn tiled(&mut self) -> Option<&mut TiledGradient<'a>> {
        self.pairs.as_mut()?.tiled.as_mut()
    }
}

impl<T: Real<Compute: Lanes>, G: Source<T::Compute>> Gradient<'_, T, G> {
    /// Copies an image into planes.
    #[inline(always)]
    fn border<S: Simd>(&mut self, simd: S, image: &[T]) {
        if !self.is_filled {
            self.is_filled = true;
            // Initialises the borders and the memory past the last plane, which is multiplied by zeros and must be
            // finite.
            self.planes.fill(T::Compute::ZERO);
        }
        self.plane.border(simd, image, self.planes);
    }

    /// Adds the products of image number `image` to the sums of filters of these numbers.
    #[inline(always)]
    fn add_image<S: Simd>(&mut self, simd: S, image: usize, numbers: Range<usize>, in_pairs: bool) {
        let filters = numbers.len();
        if in_pairs
            && let Some(pairs) = &mut self.pairs
            && pairs.add_image_in_tiles(&self.plane, filters, self.part_len)
        {
            return;
        }
        if !self.has_sums {
            self.has_sums = true;
            self.sums.fill(T::Compute::ZERO);
        }
        if let Some(vectors) = self.by_filters.map(|by_filters| by_filters.with_filters(filters)) {
            let prefetch = self.prefetch(image + 1, numbers.clone());
            let given_to_bf16_dot =
                self.gradient.given_to_bf16_dot(&self.parts_plane, image, numbers.clone());
            let (parts, part_len) = match self.gradient.given(&self.parts_plane, image, numbers) {
                Some(given) => (given, self.parts_plane.positions()),
                None => (&*self.parts, self.part_len),
            };
            let products = Products {
                multiply: Singles,
                vectors,
                plane: &self.plane,
                planes: [self.unpacked.unwrap_or(self.planes); 2],
                parts,
                part_len,
                columns: self.parts_plane.width(),
                transposed: self.transposed,
                prefetch,
                sums: self.sums,
            };
            return match &self.pairs {
                Some(pairs) if in_pairs => pairs.add_products_by_filters(given_to_bf16_dot, products),
                _ => in_vectors(products),
            };
        }
        S::vectorize(
            simd,
            ByPositions {
                plane: &self.plane,
                shape: Filters { out_channels: filters, ..self.shape },
                pairs: self.pairs.as_ref().filter(|_| in_pairs),
                planes: self.unpacked.unwrap_or(self.planes),
                parts: self.parts,
                part_len: self.part_len,
                sums: self.sums,
            },
        );
    }

    /// The memory that is read for an image and its gradient by the sums of these filters; none after the last image.
    fn prefetch(&self, image: usize, filters: Range<usize>) -> Prefetch<4> {
        let Some(elements) = self.images.get(image) else {
            return Prefetch::new([&[]; 4]);
        };
        let [gradient, out, index] = self.gradient.read(&self.plane, image, filters);
        Prefetch::new([bytemuck::cast_slice(elements), gradient, out, index])
    }

    /// Adds the lanes of the sums to the gradient of filters, which begin at number `first`.
    #[inline(always)]
    fn add_sums<S: Simd>(&mut self, simd: S, first: usize, filters: usize) {
        let of_filter = self.shape.in_channels * self.shape.taps;
        if let Some(tiled) = self.pairs.as_ref().and_then(|pairs| pairs.tiled.as_ref()) {
            let gradient = &mut self.filters_gradient[first * of_filter..][..filters * of_filter];
            tiled.add_to(bytemuck::cast_slice_mut(gradient));
        }
        if !self.has_sums {
            return;
        }
        if let Some(vectors) = self.by_filters.map(|by_filters| by_filters.with_filters(filters)) {
            return vectors
                .add_to(self.sums, &mut self.filters_gradient[first * of_filter..][..filters * of_filter]);
        }
        let (sums, _) = T::Compute::vectors::<S>(self.sums);
        for (begin, size) in blocks(filters, most_filters::<S>()) {
            let sums = sums[begin * of_filter..][..size * of_filter].chunks_exact(size);
            for (tap, sums) in sums.enumerate() {
                for (filter, &sum) in sums.iter().enumerate() {
                    self.filters_gradient[(first + begin + filter) * of_filter + tap] +=
                        T::Compute::sum(simd, sum);
                }
            }
        }
    }
}
