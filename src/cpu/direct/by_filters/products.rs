//! [`Products`]: the sums of [`gradient`](super::super::gradient()) with a filter in each lane.
//!
//! The gradient by the sums is transposed, some positions at a time: then a vector of filters is a load for each position, and
//! an element of the image, in all lanes, is multiplied with the vectors of as many neighbouring positions as a row of the
//! kernel has taps. Those stay in registers until the next element comes, as do the sums of four channels.
//!
//! What one piece of positions gives is added up by itself, and then added to what came before: so the error of a sum grows with
//! their length and their number, and not with the product of both.

use std::ops::Range;

use pulp::{Simd, WithSimd};

use super::{FilterVectors, Group, MOST_TAPS, VECTORS};
use crate::cpu::direct::filters::Filters;
use crate::cpu::direct::plane::Plane;
use crate::cpu::lanes::{Lanes, MOST_LANES, VECTOR_BYTES, transpose};

/// Elements of the output that are transposed at once: those of two vectors take half of a small first-level cache.
const PIECE: usize = 128;

/// Channels whose sums are kept in registers at once: with two vectors of filters and three taps, 24 of 32.
const CHANNELS: usize = 4;

/// Positions that follow a piece, of zeros: what its last elements are multiplied with, up to a multiple of [`MOST_TAPS`].
const BEHIND: usize = 2 * MOST_TAPS;

/// The products of one image.
pub(in crate::cpu::direct) struct Products<'a, C> {
    pub(in crate::cpu::direct) vectors: FilterVectors,
    pub(in crate::cpu::direct) plane: &'a Plane,
    /// The planes of the image. Those behind a row, and behind the last one, are multiplied with zeros.
    pub(in crate::cpu::direct) planes: &'a [C],
    /// The gradient by the sums of each filter, row by row, and how far one filter's is from the next one's.
    pub(in crate::cpu::direct) parts: &'a [C],
    pub(in crate::cpu::direct) part_len: usize,
    /// As many as [`transposed_len`](Self::transposed_len) says.
    pub(in crate::cpu::direct) transposed: &'a mut [C],
    /// What is added to, in the order of packed filters.
    pub(in crate::cpu::direct) sums: &'a mut [C],
}

/// The first channel and the first tap of some.
#[derive(Clone, Copy)]
struct Place {
    channel: usize,
    tap: usize,
}

impl<C: Lanes> Products<'_, C> {
    /// Whether there are enough channels that no sum waits for the one before it.
    pub(in crate::cpu::direct) fn has_channels(shape: &Filters) -> bool {
        shape.in_channels >= CHANNELS
    }

    /// The most elements of a piece of the gradient, transposed.
    pub(in crate::cpu::direct) fn transposed_len(plane: &Plane) -> usize {
        // A piece that begins with the last element of a row has the most positions between rows.
        let columns = plane.output()[1];
        let between = plane.width() - columns;
        (PIECE + (PIECE / columns.max(1) + 1) * between + BEHIND) * VECTORS * MOST_LANES
    }
}

impl<C: Lanes> WithSimd for Products<'_, C> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        if size_of::<C::Vector<S>>() != VECTOR_BYTES {
            unreachable!("`FilterVectors::new` has asked for wide vectors");
        }
        for group in self.vectors.groups() {
            match group.vectors {
                1 => self.group::<S, 1>(simd, group),
                _ => self.group::<S, VECTORS>(simd, group),
            }
        }
    }
}

impl<C: Lanes> Products<'_, C> {
    /// The products of `V` vectors of filters.
    #[inline(always)]
    fn group<S: Simd, const V: usize>(&mut self, simd: S, group: Group) {
        let (channels, outputs) = (self.vectors.shape.in_channels, self.plane.outputs());
        for first in (0..outputs).step_by(PIECE) {
            let piece = first..outputs.min(first + PIECE);
            let begin = self.plane.position(first);
            let len = self.plane.position(piece.end - 1) + 1 - begin;
            self.transpose::<S, V>(simd, group, piece, len);
            let fours = channels / CHANNELS * CHANNELS;
            for channel in (0..fours).step_by(CHANNELS) {
                self.channels::<S, V, CHANNELS>(simd, group.begin, channel, begin, len);
            }
            for channel in fours..channels {
                self.channels::<S, V, 1>(simd, group.begin, channel, begin, len);
            }
        }
    }

    /// From the positions of each filter to the filters of each position, of a piece that has `len` positions; zeros between
    /// rows and behind it.
    #[inline(always)]
    fn transpose<S: Simd, const V: usize>(&mut self, simd: S, group: Group, piece: Range<usize>, len: usize) {
        let (lanes, zero) = (C::lanes::<S>(), C::splat(simd, C::ZERO));
        let (to, _) = C::vectors_mut::<S>(self.transposed).0.as_chunks_mut::<V>();
        to[..len + BEHIND].fill([zero; V]);
        let columns = self.plane.output()[1];
        let between = self.plane.width() - columns;
        let (mut position, mut column) = (0, piece.start % columns);
        for first in piece.clone().step_by(lanes) {
            let count = lanes.min(piece.end - first);
            let mut places = [0; MOST_LANES];
            for place in &mut places[..count] {
                *place = position;
                (position, column) = (position + 1, column + 1);
                if column == columns {
                    (position, column) = (position + between, 0);
                }
            }
            for vector in 0..V {
                let mut block = [zero; MOST_LANES];
                let of_vector = group.size.saturating_sub(vector * lanes).min(lanes);
                for (number, to) in block[..of_vector].iter_mut().enumerate() {
                    let part = (group.begin + vector * lanes + number) * self.part_len;
                    let from = &self.parts[part + first..][..count];
                    *to = if count == lanes { C::vectors::<S>(from).0[0] } else { C::load_first(simd, from) };
                }
                let block = transpose::<C, S>(simd, block);
                for (&place, from) in places[..count].iter().zip(block) {
                    to[place][vector] = from;
                }
            }
        }
    }

    /// The products of `N` channels, from number `channel` on, with `len` positions, of which the first has number `begin`.
    #[inline(always)]
    fn channels<S: Simd, const V: usize, const N: usize>(
        &mut self,
        simd: S,
        filter: usize,
        channel: usize,
        begin: usize,
        len: usize,
    ) {
        let [kernel_rows, kernel_columns] = self.plane.kernel;
        let threes = kernel_columns / MOST_TAPS * MOST_TAPS;
        for row in 0..kernel_rows {
            for column in (0..threes).step_by(MOST_TAPS) {
                let place = Place { channel, tap: row * kernel_columns + column };
                self.taps::<S, V, N, MOST_TAPS>(simd, filter, place, begin, len);
            }
            for column in threes..kernel_columns {
                let place = Place { channel, tap: row * kernel_columns + column };
                self.taps::<S, V, N, 1>(simd, filter, place, begin, len);
            }
        }
    }

    /// The same of `K` neighbouring taps.
    #[inline(always)]
    fn taps<S: Simd, const V: usize, const N: usize, const K: usize>(
        &mut self,
        simd: S,
        filter: usize,
        Place { channel, tap }: Place,
        begin: usize,
        len: usize,
    ) {
        let steps = (len + K - 1).div_ceil(MOST_TAPS);
        let (gradient, _) = C::vectors::<S>(self.transposed).0.as_chunks::<V>();
        let (gradient, _) = gradient[..steps * MOST_TAPS].as_chunks::<MOST_TAPS>();
        let mut lines = [[].as_slice(); N];
        for (number, line) in lines.iter_mut().enumerate() {
            let first = (channel + number) * self.plane.len() + self.plane.offset(tap) + begin;
            *line = self.planes[first..][..steps * MOST_TAPS].as_chunks::<MOST_TAPS>().0;
        }
        let products = add_products::<C, S, V, N, K>(simd, gradient, lines);
        let taps = self.vectors.shape.taps;
        let of_group = &mut self.sums[filter * self.vectors.shape.in_channels * taps..];
        let (sums, _) = C::vectors_mut::<S>(of_group).0.as_chunks_mut::<V>();
        for (number, products) in products.iter().enumerate() {
            for (sums, products) in sums[(channel + number) * taps + tap..][..K].iter_mut().zip(products) {
                for (sum, &product) in sums.iter_mut().zip(products) {
                    *sum = C::add_lanes(simd, *sum, product);
                }
            }
        }
    }
}

/// The products of lines of channels with the gradient at their positions: element `q` and position `q - k` belong to tap `k`.
#[inline(always)]
fn add_products<C: Lanes, S: Simd, const V: usize, const N: usize, const K: usize>(
    simd: S,
    gradient: &[[[C::Vector<S>; V]; MOST_TAPS]],
    lines: [&[[C; MOST_TAPS]]; N],
) -> [[[C::Vector<S>; V]; K]; N] {
    // Loops, and no closures: a closure is compiled without the machine's vectors if it is not inlined.
    let zero = C::splat(simd, C::ZERO);
    let mut sums = [[[zero; V]; K]; N];
    let mut window = [[zero; V]; K];
    for (step, gradient) in gradient.iter().enumerate() {
        for element in 0..MOST_TAPS {
            for tap in (1..K).rev() {
                window[tap] = window[tap - 1];
            }
            window[0] = gradient[element];
            for channel in 0..N {
                let factor = C::splat(simd, lines[channel][step][element]);
                for tap in 0..K {
                    for vector in 0..V {
                        let sum = sums[channel][tap][vector];
                        sums[channel][tap][vector] = C::multiply_add(simd, window[tap][vector], factor, sum);
                    }
                }
            }
        }
    }
    sums
}
