//! [`ByPositions`]: the products of [`gradient`](super::gradient()) with a position in each lane, for few filters or
//! channels.
//!
//! Compiled for the compute type alone: all element types, and all sources of the gradient by the sums, share it.

use pulp::{Simd, WithSimd};

use crate::cpu::direct::bf16_dot::PositionPairs;
use crate::cpu::direct::filters::{Filters, MOST, blocks, of_size};
use crate::cpu::direct::plane::Plane;
use crate::cpu::lanes::{Lanes, MOST_LANES, has_few_registers, has_lanes};

/// The most taps whose sums are in registers at a time, for [`MOST`] filters,
const TAPS: usize = 3;
/// and the most filters with 16 registers: with a window of each tap and a part of one filter they fill them.
const FEW: usize = 4;

/// Adds the products of one image to the sums of some filters.
pub(super) struct ByPositions<'a, 'p, C> {
    pub(super) plane: &'a Plane,
    pub(super) shape: Filters,
    /// The planes and the gradient in pairs, if pairs are multiplied.
    pub(super) pairs: Option<&'a PositionPairs<'p>>,
    /// The planes of the image.
    pub(super) planes: &'a [C],
    /// The gradient by the sums of each filter, and the distance of filters.
    pub(super) parts: &'a [C],
    pub(super) part_len: usize,
    /// For each block of filters, channel and tap, a vector of sums.
    pub(super) sums: &'a mut [C],
}

impl<C: Lanes> WithSimd for ByPositions<'_, '_, C> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        for (begin, size) in blocks(self.shape.out_channels, most_filters::<S>()) {
            of_size!(size, at most most_filters::<S>(), F => self.block::<S, F>(simd, begin));
        }
    }
}

impl<C: Lanes> ByPositions<'_, '_, C> {
    /// Adds the products of `F` filters from number `begin` on.
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
        let first = (begin * self.shape.in_channels + channel * F) * self.shape.taps + tap * F;
        let lanes = C::lanes::<S>();
        let sums = &mut self.sums[first * lanes..][..K * F * lanes];
        if const { !has_lanes::<C, S>(MOST_LANES) } {
            assert!(self.pairs.is_none(), "the level that multiplies pairs has the widest vectors");
        } else if let Some(pairs) = self.pairs {
            let mut windows = [channel * self.plane.len(); K];
            for (index, window) in windows.iter_mut().enumerate() {
                *window += self.plane.offset(tap + index);
            }
            let (positions, part_len) = (self.plane.positions(), self.part_len);
            return pairs.add_products::<_, F, K>(positions, begin, part_len, windows, sums);
        }
        let vectors = self.plane.positions().div_ceil(lanes);
        let elements = vectors * lanes;
        let mut parts = [[].as_slice(); F];
        for (filter, part) in parts.iter_mut().enumerate() {
            *part = C::vectors::<S>(&self.parts[(begin + filter) * self.part_len..][..elements]).0;
        }
        let plane = &self.planes[channel * self.plane.len()..];
        let mut windows = [[].as_slice(); K];
        for (index, window) in windows.iter_mut().enumerate() {
            *window = C::vectors::<S>(&plane[self.plane.offset(tap + index)..][..elements]).0;
        }
        let (sums, _) = C::vectors_mut::<S>(sums).0.as_chunks_mut::<F>();
        let sums: &mut [_; K] = sums.try_into().expect("as many as asked for");
        *sums = add_products::<C, S, F, K>(simd, vectors, parts, windows, *sums);
    }
}

/// The most filters whose sums are in registers at a time.
pub(super) const fn most_filters<S: Simd>() -> usize {
    if has_few_registers::<S>() { FEW } else { MOST }
}

/// Adds the products of each part with each window, position by position, to vectors of sums.
#[inline(always)]
fn add_products<C: Lanes, S: Simd, const F: usize, const K: usize>(
    simd: S,
    vectors: usize,
    mut parts: [&[C::Vector<S>]; F],
    mut windows: [&[C::Vector<S>]; K],
    mut sums: [[C::Vector<S>; F]; K],
) -> [[C::Vector<S>; F]; K] {
    // Loops, not closures: a closure that is not inlined is compiled without the machine's vectors.
    let zero = C::splat(simd, C::ZERO);
    // All of one length, known before the loop, so that no position needs a bounds check.
    for part in &mut parts {
        *part = &part[..vectors];
    }
    for window in &mut windows {
        *window = &window[..vectors];
    }
    for position in 0..vectors {
        let mut of_windows = [zero; K];
        for (vector, window) in of_windows.iter_mut().zip(&windows) {
            *vector = window[position];
        }
        for filter in 0..F {
            let part = parts[filter][position];
            for tap in 0..K {
                sums[tap][filter] = C::multiply_add(simd, part, of_windows[tap], sums[tap][filter]);
            }
        }
    }
    sums
}
