//! [`AddUp`]: the sums of a group of filters, block by block of positions.

#![allow(
    unsafe_code,
    reason = "lines of an image are read without a check for each, which took up to a tenth of the time"
)]

mod tap_by_tap;

use std::ops::Range;

use pulp::{Simd, WithSimd};

use super::blocks::Blocks;
use super::multiply::Multiply;
use super::row::add_row;
use super::to_filters::ToFilters;
use super::{MOST_VECTORS, POSITIONS, Sums, are_wide};
use crate::cpu::lanes::{Lanes, MOST_LANES, has_few_registers};
use crate::cpu::prefetch::Prefetch;

/// Sizes of blocks: neighbouring positions whose sums of one vector of filters are in 32 registers at a time. The sums
/// of the largest block and the filters of three taps fill nearly all registers.
const POSITIONS_AT_ONCE: [usize; 3] = [24, 16, 14];

/// The same for two vectors of filters, or for one in 16 registers,
const HALF_AT_ONCE: [usize; 3] = [12, 8, 7];

/// and for two in 16 registers.
const FEW_AT_ONCE: [usize; 3] = [6, 5, 4];

/// The most of all of these.
pub(super) const MOST_POSITIONS: usize = POSITIONS_AT_ONCE[0];

/// Stands for the columns of a kernel whose number is not known at compile time.
pub(super) const ANY: usize = 0;

/// Computes the sums of a group of filters at all positions.
pub(super) struct AddUp<'a, C, M> {
    pub(super) multiply: M,
    pub(super) filters: &'a [C],
    /// Whether the product of a filter with the border of zeros is 0.
    pub(super) are_finite: bool,
    /// Vectors of filters.
    pub(super) vectors: usize,
    /// The initial sum of each filter.
    pub(super) initial: [C; MOST_VECTORS * MOST_LANES],
    pub(super) sums: Sums<'a, C, C>,
    /// The memory to prefetch meanwhile.
    pub(super) prefetch: Prefetch<3>,
    /// The sums of all filters at a position, side by side, from position `begin` on; earlier ones are transposed.
    pub(super) by_position: &'a mut [C],
    pub(super) begin: usize,
}

impl<C: Lanes, M: Multiply<C>> WithSimd for AddUp<'_, C, M> {
    /// The distance of the rows of the output's sums.
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) -> usize {
        // `const`, here and below, so that code for vectors that are not of this kind is not compiled.
        if const { !are_wide(size_of::<C::Vector<S>>()) } {
            unreachable!("`new` has asked for wide vectors");
        }
        match self.vectors {
            1 => self.all::<S, 1>(simd),
            _ => self.all::<S, MOST_VECTORS>(simd),
        }
    }
}

impl<C: Lanes, M: Multiply<C>> AddUp<'_, C, M> {
    /// The sums of `V` vectors of filters.
    #[inline(always)]
    fn all<S: Simd, const V: usize>(&mut self, simd: S) -> usize {
        let Blocks { sums, row_len, .. } = if const { has_few_registers::<S>() || M::TAP_BY_TAP } {
            self.columns::<S, V, ANY>(simd)
        } else {
            match self.sums.plane.kernel[1] {
                _ if self.sums.plane.dilation[1] > 1 => self.columns::<S, V, ANY>(simd),
                1 => self.columns::<S, V, 1>(simd),
                3 => self.columns::<S, V, 3>(simd),
                5 => self.columns::<S, V, 5>(simd),
                columns => unreachable!("`makes_sums_of` has refused {columns} columns"),
            }
        };
        self.transpose::<S, V>(simd, sums - self.begin);
        row_len
    }

    /// The same for kernels of `K` columns, or of any number of them, without the last transposition.
    #[inline(always)]
    fn columns<S: Simd, const V: usize, const K: usize>(&mut self, simd: S) -> Blocks {
        const ALL: [usize; 3] = POSITIONS_AT_ONCE;
        const HALF: [usize; 3] = HALF_AT_ONCE;
        const FEW: [usize; 3] = FEW_AT_ONCE;
        if const { !has_few_registers::<S>() && V == 1 } {
            self.rows::<S, V, K, { ALL[0] }, { ALL[1] }, { ALL[2] }>(simd)
        } else if const { !has_few_registers::<S>() || V == 1 } {
            self.rows::<S, V, K, { HALF[0] }, { HALF[1] }, { HALF[2] }>(simd)
        } else {
            self.rows::<S, V, K, { FEW[0] }, { FEW[1] }, { FEW[2] }>(simd)
        }
    }

    /// The same in blocks of `A`, `B` and `D` positions.
    #[inline(always)]
    fn rows<S: Simd, const V: usize, const K: usize, const A: usize, const B: usize, const D: usize>(
        &mut self,
        simd: S,
    ) -> Blocks {
        let blocks = Blocks::of(self.sums.plane, [A, B, D]);
        let Blocks { rows, columns, row_len, counts, .. } = blocks;
        let of_row: usize = counts.iter().sum();
        let plane = self.sums.plane;
        let lines = self.filters.len() / (V * C::lanes::<S>() * plane.kernel[1]);
        self.prefetch.in_steps(rows * of_row * lines);
        for row in 0..rows {
            let mut begin = 0;
            for _ in 0..counts[0] {
                self.block::<S, V, K, A>(simd, row, begin.min(columns - A), row_len);
                begin += A;
            }
            for _ in 0..counts[1] {
                self.block::<S, V, K, B>(simd, row, begin.min(columns - B), row_len);
                begin += B;
            }
            for _ in 0..counts[2] {
                self.block::<S, V, K, D>(simd, row, begin.min(columns - D), row_len);
                begin += D;
            }
        }
        blocks
    }

    /// The same for `P` positions of a row, from column number `column` on. The sums of rows are `row_len` apart.
    #[inline(always)]
    fn block<S: Simd, const V: usize, const K: usize, const P: usize>(
        &mut self,
        simd: S,
        row: usize,
        column: usize,
        row_len: usize,
    ) {
        let (first, number) = (row * self.sums.plane.width() + column, row * row_len + column);
        self.make_room::<S, V, P>(simd, number);
        let sums = match K {
            ANY => self.tap_by_tap::<S, V, P>(simd, first),
            _ => self.tile::<S, V, K, P>(simd, first),
        };
        let place = (number - self.begin) * V * C::lanes::<S>();
        let (to, _) = C::vectors_mut::<S>(&mut self.by_position[place..]);
        let (to, _) = to[..P * V].as_chunks_mut::<V>();
        // An array of known size: copying slices would write all sums to memory first.
        let to: &mut [[C::Vector<S>; V]; P] = to.try_into().expect("as many as asked for");
        *to = sums;
    }

    /// Transposes the buffered sums if `P` more from position `number` on do not fit. No earlier sum is computed again:
    /// a block never begins before the block that precedes it.
    #[inline(always)]
    fn make_room<S: Simd, const V: usize, const P: usize>(&mut self, simd: S, number: usize) {
        const { assert!(MOST_POSITIONS + MOST_LANES <= POSITIONS) };
        let kept = number - self.begin;
        if kept + P > POSITIONS {
            let lanes = C::lanes::<S>();
            let complete = kept / lanes * lanes;
            self.transpose::<S, V>(simd, complete);
            self.by_position.copy_within(complete * V * lanes..kept * V * lanes, 0);
            self.begin += complete;
        }
    }

    /// The sums at `P` positions from number `first` on.
    #[inline(always)]
    fn tile<S: Simd, const V: usize, const K: usize, const P: usize>(
        &mut self,
        simd: S,
        first: usize,
    ) -> [[C::Vector<S>; V]; P] {
        let mut sums = [self.first_sums::<S, V>(simd); P];
        let plane = *self.sums.plane;
        let (row_step, len, taps) = (plane.row_step(), plane.len(), plane.taps());
        let (filters, _) = C::vectors::<S>(self.filters).0.as_chunks::<V>();
        let (of_rows, _) = filters.as_chunks::<K>();
        let channels = filters.len() / taps;
        let line_len = P + K - 1;
        let within = if self.are_finite { plane.columns_within(first, line_len) } else { 0..line_len };
        let kernel_rows = self.rows_of(first, P, channels, line_len);
        for (channel, of_rows) in of_rows.chunks_exact(plane.kernel[0]).enumerate() {
            let mut begin = first + channel * len + kernel_rows.start * row_step;
            for of_row in &of_rows[kernel_rows.clone()] {
                // SAFETY: `begin` is `first + channel * len + row * row_step`, of a channel below `channels` and a row
                // below `kernel[0]`: by the assertion in `rows_of`, the line ends within `planes`.
                let line = unsafe { self.sums.planes.get_unchecked(begin..begin + line_len) };
                begin += row_step;
                self.prefetch.fetch();
                add_row::<C, S, V, K, P>(simd, line, &within, of_row, &mut sums);
            }
        }
        sums
    }

    /// The initial sums at a position.
    #[inline(always)]
    fn first_sums<S: Simd, const V: usize>(&self, simd: S) -> [C::Vector<S>; V] {
        let (initial, _) = C::vectors::<S>(&self.initial);
        let mut sums = [C::splat(simd, C::ZERO); V];
        sums.copy_from_slice(&initial[..V]);
        sums
    }

    /// The rows of the kernel that have products at `count` positions from number `first` on. Asserts that their lines,
    /// of `line_len` elements from `first` after the beginning of that row in each of `channels`, end within the
    /// planes.
    #[inline(always)]
    fn rows_of(&self, first: usize, count: usize, channels: usize, line_len: usize) -> Range<usize> {
        let plane = self.sums.plane;
        let last_channel = (channels - 1).checked_mul(plane.len());
        let end = last_channel.and_then(|begin| {
            let last_row = plane.span()[0] * plane.width();
            begin.checked_add(first)?.checked_add(last_row)?.checked_add(line_len)
        });
        assert!(end.is_some_and(|end| end <= self.sums.planes.len()), "the last line ends with the planes");
        if self.are_finite { plane.rows_within(first, count) } else { 0..plane.kernel[0] }
    }

    /// Transposes the first `count` positions of the buffered sums.
    #[inline(always)]
    fn transpose<S: Simd, const V: usize>(&mut self, simd: S, count: usize) {
        let Sums { sums, sums_len, .. } = &mut self.sums;
        let from = &self.by_position[..count.next_multiple_of(C::lanes::<S>()) * V * C::lanes::<S>()];
        S::vectorize(simd, ToFilters::<C, V> { from, sums, sums_len: *sums_len, begin: self.begin });
    }
}
