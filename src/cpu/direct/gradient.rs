//! [`gradient`]: the gradient by the filters, with the sums of a few filters and taps in registers, over all positions.

use dahl_core::{Element, Real};
use pulp::{Simd, WithSimd};

use super::filters::{Filters, blocks};
use super::plane::Plane;
use crate::cpu::lanes::{Lanes, in_vectors};
use crate::cpu::scratch::with_scratch;

/// The most filters, and the most taps, whose sums are kept in registers at once.
const FILTERS: usize = 6;
const TAPS: usize = 3;
/// The most elements of a vector.
const MOST_LANES: usize = 16;

/// Where the gradient by the sums comes from.
pub(crate) trait Source<C> {
    /// Writes the gradient by the sums of image number `image` to its positions, each channel's to a part that is
    /// `part_len` long; 0 between the rows and behind them.
    fn fill<S: Simd>(&mut self, simd: S, plane: &Plane, image: usize, parts: &mut [C], part_len: usize);
}

/// It is there: `[batch, out_channels, rows, columns]`.
pub(crate) struct Given<'a, T>(pub(crate) &'a [T]);

impl<T: Real<Compute: Lanes>> Source<T::Compute> for Given<'_, T> {
    #[inline(always)]
    fn fill<S: Simd>(
        &mut self,
        simd: S,
        plane: &Plane,
        image: usize,
        parts: &mut [T::Compute],
        part_len: usize,
    ) {
        let [rows, columns] = plane.output();
        let image_len = parts.len() / part_len * rows * columns;
        plane.spread(simd, &self.0[image * image_len..][..image_len], parts, part_len);
    }
}

/// `filters_gradient[f, i, j, k] += sum over n, r, c of gradient[n, f, r, c] * image[n, i, r + j - padding, c + k - padding]`.
///
/// # Shapes
/// `images: [batch, in_channels, rows, columns]`, `gradient` as the output, `filters_gradient: [out_channels, in_channels, taps]`.
pub(crate) fn gradient<T: Real<Compute: Lanes>, G: Source<T::Compute>>(
    plane: Plane,
    shape: Filters,
    images: &[T],
    gradient: G,
    filters_gradient: &mut [T::Compute],
) {
    assert_eq!(filters_gradient.len(), shape.len());
    let part_len = plane.positions().next_multiple_of(MOST_LANES);
    let lengths = [plane.buffer_len(shape.in_channels, MOST_LANES), shape.out_channels * part_len];
    with_scratch(lengths, |[planes, parts]: [&mut [T::Compute]; 2]| {
        planes.fill(T::Compute::ZERO); // what lies behind the last plane is multiplied by zeros: it must be finite
        in_vectors(Gradient { plane, shape, images, gradient, filters_gradient, planes, parts, part_len });
    });
}

struct Gradient<'a, T: Real, G> {
    plane: Plane,
    shape: Filters,
    images: &'a [T],
    gradient: G,
    filters_gradient: &'a mut [T::Compute],
    planes: &'a mut [T::Compute],
    /// The gradient of an image at its positions, each channel's part `part_len` long.
    parts: &'a mut [T::Compute],
    part_len: usize,
}

impl<T: Real<Compute: Lanes>, G: Source<T::Compute>> WithSimd for Gradient<'_, T, G> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let [rows, columns] = self.plane.image;
        let images = self.images.chunks_exact(self.shape.in_channels * rows * columns);
        for (number, image) in images.enumerate() {
            self.plane.border(simd, image, self.planes);
            self.gradient.fill(simd, &self.plane, number, self.parts, self.part_len);
            for (begin, size) in blocks(self.shape.out_channels, FILTERS) {
                match size {
                    1 => self.block::<S, 1>(simd, begin),
                    2 => self.block::<S, 2>(simd, begin),
                    3 => self.block::<S, 3>(simd, begin),
                    4 => self.block::<S, 4>(simd, begin),
                    5 => self.block::<S, 5>(simd, begin),
                    _ => self.block::<S, FILTERS>(simd, begin),
                }
            }
        }
    }
}

impl<T: Real<Compute: Lanes>, G> Gradient<'_, T, G> {
    /// Adds what an image gives to `F` filters from number `begin` on.
    #[inline(always)]
    fn block<S: Simd, const F: usize>(&mut self, simd: S, begin: usize) {
        for channel in 0..self.shape.in_channels {
            for (tap, size) in blocks(self.shape.taps, TAPS) {
                match size {
                    1 => self.taps::<S, F, 1>(simd, begin, channel, tap),
                    2 => self.taps::<S, F, 2>(simd, begin, channel, tap),
                    _ => self.taps::<S, F, TAPS>(simd, begin, channel, tap),
                }
            }
        }
    }

    /// The same for `K` taps of one channel, from number `tap` on.
    #[inline(always)]
    fn taps<S: Simd, const F: usize, const K: usize>(
        &mut self,
        simd: S,
        begin: usize,
        channel: usize,
        tap: usize,
    ) {
        let vectors = self.plane.positions().div_ceil(T::Compute::lanes::<S>());
        let elements = vectors * T::Compute::lanes::<S>();
        let parts: [_; F] = std::array::from_fn(|filter| {
            let part = &self.parts[(begin + filter) * self.part_len..][..elements];
            T::Compute::vectors::<S>(part).0
        });
        let plane = &self.planes[channel * self.plane.len()..];
        let windows: [_; K] = std::array::from_fn(|index| {
            T::Compute::vectors::<S>(&plane[self.plane.offset(tap + index)..][..elements]).0
        });
        let sums = products::<T::Compute, S, F, K>(simd, vectors, parts, windows);
        for (filter, sums) in sums.into_iter().enumerate() {
            let place = ((begin + filter) * self.shape.in_channels + channel) * self.shape.taps + tap;
            for (total, sum) in self.filters_gradient[place..].iter_mut().zip(sums) {
                *total += T::Compute::sum(simd, sum);
            }
        }
    }
}

/// The products of each part with each window, position by position, added up in vectors.
#[inline(always)]
fn products<C: Lanes, S: Simd, const F: usize, const K: usize>(
    simd: S,
    vectors: usize,
    parts: [&[C::Vector<S>]; F],
    windows: [&[C::Vector<S>]; K],
) -> [[C::Vector<S>; K]; F] {
    // Loops, and no closures: a closure is compiled without the machine's vectors if it is not inlined.
    let zero = C::splat(simd, C::ZERO);
    let mut sums = [[zero; K]; F];
    for position in 0..vectors {
        let mut of_parts = [zero; F];
        for (vector, part) in of_parts.iter_mut().zip(&parts) {
            *vector = part[position];
        }
        for tap in 0..K {
            let window = windows[tap][position];
            for filter in 0..F {
                sums[filter][tap] = C::multiply_add(simd, of_parts[filter], window, sums[filter][tap]);
            }
        }
    }
    sums
}
