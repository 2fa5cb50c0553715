//! [`Products`]: the sums of [`gradient`](super::super::gradient()) with a filter in each lane.
//!
//! The gradient by the sums is transposed, some elements at a time. Then a vector of filters is one load for each
//! position of the output. It is multiplied with the elements of the image, each broadcast to all lanes, that a row of
//! the kernel meets there, in four channels (two where there are 16 registers). These sums stay in registers over all
//! positions.
//!
//! With [pairs](super::super::bf16_dot) a position stands for two neighbours, in the gradient and in the image. A pair
//! of the image begins at any element, so its planes are stored twice, once from the second element on.
//!
//! The sums of each piece of positions are computed separately and then added to the earlier ones. So the error of a
//! sum grows with the length of the pieces plus their number, and not with the product of both.

#![allow(
    unsafe_code,
    reason = "lines of an image are read without a check for each, which took up to a tenth of the time"
)]

use std::ops::Range;
use std::ptr;

use pulp::{Simd, WithSimd};

use super::multiply::Multiply;
use super::{FilterVectors, Group, MOST_TAPS, MOST_VECTORS, are_wide};
use crate::cpu::direct::filters::Filters;
use crate::cpu::direct::plane::Plane;
use crate::cpu::lanes::{Lanes, MOST_LANES, has_few_registers, with_lanes};
use crate::cpu::prefetch::Prefetch;

/// Elements of the output that are transposed at a time: those of two vectors take half of a small first-level cache.
const PIECE: usize = 128;

/// Cache lines that are prefetched with each row, at most.
const LINES: usize = 4;

/// Channels whose sums are in registers at a time: with two vectors of filters and three taps, 24 of 32 registers.
const CHANNELS: usize = 4;
/// The same for 16 registers: 12 of them.
const FEW_CHANNELS: usize = 2;

/// The products of one image.
pub(in crate::cpu::direct) struct Products<'a, C, M> {
    pub(in crate::cpu::direct) multiply: M,
    pub(in crate::cpu::direct) vectors: FilterVectors,
    pub(in crate::cpu::direct) plane: &'a Plane,
    /// The planes of the image; for pairs, those that begin at each even element and those at each odd one.
    pub(in crate::cpu::direct) planes: [&'a [C]; 2],
    /// The gradient by the sums of each filter, row by row, and the distance of filters.
    pub(in crate::cpu::direct) parts: &'a [C],
    pub(in crate::cpu::direct) part_len: usize,
    /// The distance of the gradient's rows: as long as a row of the output, or padded with zeros.
    pub(in crate::cpu::direct) columns: usize,
    /// Of the length [`TRANSPOSED`](Self::TRANSPOSED).
    pub(in crate::cpu::direct) transposed: &'a mut [C],
    /// The memory to prefetch meanwhile.
    pub(in crate::cpu::direct) prefetch: Prefetch<4>,
    /// The sums to add to, in the order of packed filters.
    pub(in crate::cpu::direct) sums: &'a mut [C],
}

/// The first channel and tap of a block of sums.
#[derive(Clone, Copy)]
struct TapOffset {
    channel: usize,
    row: usize,
    column: usize,
}

impl<C: Lanes, M: Multiply<C>> Products<'_, C, M> {
    /// Whether there are enough channels to hide the latency of the sums.
    pub(in crate::cpu::direct) fn has_channels(shape: &Filters) -> bool {
        shape.in_channels >= CHANNELS
    }

    /// The most elements of a piece of the gradient after it is transposed.
    pub(in crate::cpu::direct) const TRANSPOSED: usize = PIECE * MOST_VECTORS * MOST_LANES;
}

impl<C: Lanes, M: Multiply<C>> WithSimd for Products<'_, C, M> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        if const { !are_wide(size_of::<C::Vector<S>>()) } {
            unreachable!("`FilterVectors::new` has asked for wide vectors");
        }
        let steps = self.steps();
        self.prefetch.in_steps(LINES * steps);
        for group in self.vectors.groups() {
            match group.vectors {
                1 => self.group::<S, 1>(simd, group),
                _ => self.group::<S, MOST_VECTORS>(simd, group),
            }
        }
    }
}

impl<C: Lanes, M: Multiply<C>> Products<'_, C, M> {
    /// Adds the products of `V` vectors of filters.
    #[inline(always)]
    fn group<S: Simd, const V: usize>(&mut self, simd: S, group: Group) {
        let (channels, outputs) = (self.vectors.shape.in_channels, self.plane.output()[0] * self.columns);
        let piece_len = self.piece_len();
        for first in (0..outputs).step_by(piece_len) {
            let piece = first..outputs.min(first + piece_len);
            with_lanes!(C, S, L => self.transpose::<S, V, L>(simd, group, piece.clone()));
            let at_once = if has_few_registers::<S>() { FEW_CHANNELS } else { CHANNELS };
            let whole = channels / at_once * at_once;
            for channel in (0..whole).step_by(at_once) {
                if const { has_few_registers::<S>() } {
                    self.channels::<S, V, FEW_CHANNELS>(simd, group.begin, channel, &piece);
                } else {
                    self.channels::<S, V, CHANNELS>(simd, group.begin, channel, &piece);
                }
            }
            for channel in whole..channels {
                self.channels::<S, V, 1>(simd, group.begin, channel, &piece);
            }
        }
    }

    /// The outputs of a piece: whole rows if they are not too long, since each part of a row has a fixed cost.
    fn piece_len(&self) -> usize {
        if self.columns <= PIECE { PIECE / self.columns * self.columns } else { PIECE }
    }

    /// The least number of calls of [`Prefetch::fetch`], one for each row of products.
    fn steps(&self) -> usize {
        let shape = self.vectors.shape;
        let of_kernel = self.plane.kernel[0] * self.plane.kernel[1].div_ceil(MOST_TAPS);
        self.vectors.groups().count()
            * self.plane.output()[0]
            * shape.in_channels.div_ceil(CHANNELS)
            * of_kernel
    }

    /// Transposes from the positions of each filter to the filters of each position, in squares of `L`, the last of
    /// which may be partial.
    #[inline(always)]
    fn transpose<S: Simd, const V: usize, const L: usize>(
        &mut self,
        simd: S,
        group: Group,
        piece: Range<usize>,
    ) {
        let zero = C::splat(simd, C::ZERO);
        let (to, _) = C::vectors_mut::<S>(self.transposed).0.as_chunks_mut::<V>();
        for (to, first) in to.chunks_mut(L).zip(piece.clone().step_by(L)) {
            let count = L.min(piece.end - first);
            for vector in 0..V {
                let mut square = [zero; L];
                let filters = group.size.saturating_sub(vector * L).min(L);
                for (number, to) in square[..filters].iter_mut().enumerate() {
                    let part = (group.begin + vector * L + number) * self.part_len;
                    let from = &self.parts[part + first..][..count];
                    *to = if count == L { C::vectors::<S>(from).0[0] } else { C::load_first(simd, from) };
                }
                for (to, from) in to[..count].iter_mut().zip(C::transpose(simd, square)) {
                    to[vector] = from;
                }
            }
        }
    }

    /// The products of `N` channels from number `channel` on with a piece of the gradient.
    #[inline(always)]
    fn channels<S: Simd, const V: usize, const N: usize>(
        &mut self,
        simd: S,
        filter: usize,
        channel: usize,
        piece: &Range<usize>,
    ) {
        let [rows, columns] = self.plane.kernel;
        let threes = columns / MOST_TAPS * MOST_TAPS;
        for row in 0..rows {
            for column in (0..threes).step_by(MOST_TAPS) {
                self.taps::<S, V, N, MOST_TAPS>(simd, filter, TapOffset { channel, row, column }, piece);
            }
            for column in threes..columns {
                self.taps::<S, V, N, 1>(simd, filter, TapOffset { channel, row, column }, piece);
            }
        }
    }

    /// The same of `K` neighbouring taps.
    #[inline(always)]
    fn taps<S: Simd, const V: usize, const N: usize, const K: usize>(
        &mut self,
        simd: S,
        filter: usize,
        offset: TapOffset,
        piece: &Range<usize>,
    ) {
        let products = self.add_products::<S, V, N, K>(simd, offset, piece);
        let TapOffset { channel, row, column } = offset;
        let (taps, tap) = (self.vectors.shape.taps, row * self.plane.kernel[1] + column);
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

    /// The sums of the products of a piece of the gradient with the elements under each tap, row by row of the output.
    #[inline(always)]
    fn add_products<S: Simd, const V: usize, const N: usize, const K: usize>(
        &mut self,
        simd: S,
        offset: TapOffset,
        piece: &Range<usize>,
    ) -> [[[C::Vector<S>; V]; K]; N] {
        // Loops, not closures: a closure that is not inlined is compiled without the machine's vectors.
        let mut sums = [[[C::splat(simd, C::ZERO); V]; K]; N];
        let (gradient, _) = C::vectors::<S>(self.transposed).0.as_chunks::<V>();
        let (mut rest, columns) = (&gradient[..piece.len()], self.columns);
        let (mut row, mut column) = (piece.start / columns, piece.start % columns);
        let [row_step, column_step] = self.plane.dilation;
        assert!(self.lines_end(offset, [N, K], piece.end) <= self.planes[0].len().min(self.planes[1].len()));
        while !rest.is_empty() {
            for _ in 0..LINES {
                self.prefetch.fetch();
            }
            let of_row;
            (of_row, rest) = rest.split_at(rest.len().min(columns - column));
            let line = row + offset.row * row_step;
            if self.plane.is_within(line) {
                let first = line * self.plane.width() + column * M::AT_ONCE + offset.column * column_step;
                let mut lines = [[ptr::null(); K]; N];
                for (number, line) in lines.iter_mut().enumerate() {
                    let first = (offset.channel + number) * self.plane.len() + first;
                    for (tap, line) in line.iter_mut().enumerate() {
                        let first = first + tap * column_step;
                        let planes = self.planes[first % M::AT_ONCE].as_ptr();
                        *line = planes.wrapping_add(first / M::AT_ONCE);
                    }
                }
                for (position, gradient) in of_row.iter().enumerate() {
                    for channel in 0..N {
                        for tap in 0..K {
                            let element = lines[channel][tap].wrapping_add(position);
                            // SAFETY: a line has as many elements as `of_row` and ends within the planes: no line ends
                            // after `lines_end`, the end for the last channel, row of the image and tap.
                            let element = unsafe { *element };
                            let element = C::splat(simd, element);
                            for vector in 0..V {
                                let sum = &mut sums[channel][tap][vector];
                                *sum = self.multiply.multiply_add(simd, gradient[vector], element, *sum);
                            }
                        }
                    }
                }
            }
            (row, column) = (row + 1, 0);
        }
        sums
    }

    /// The end of the last line that `channels` and `taps` from `offset` on read, for outputs below number `end`.
    #[inline(always)]
    fn lines_end(&self, offset: TapOffset, [channels, taps]: [usize; 2], end: usize) -> usize {
        let plane = self.plane;
        let [row_step, column_step] = plane.dilation;
        let last_row = (end - 1) / self.columns + offset.row * row_step;
        let last_row = last_row.min(plane.padding[0] + plane.image[0] - 1);
        let last_channel = (offset.channel + channels - 1).saturating_mul(plane.len());
        let first = last_channel
            .saturating_add(last_row.saturating_mul(plane.width()))
            .saturating_add((offset.column + taps - 1) * column_step);
        (first / M::AT_ONCE).saturating_add(self.columns)
    }
}
