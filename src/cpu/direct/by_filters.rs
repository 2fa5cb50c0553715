//! [`FilterVectors`]: the sums of [`convolve`](super::convolve()) with a filter in each lane, for many filters.
//!
//! A vector of positions is a load that mostly lies across two cache lines. A vector of filters does not: they are packed, and
//! what they are multiplied with is one element of the image, in all lanes. That element belongs to as many neighbouring sums
//! as a row of the kernel has taps, so one load serves up to three multiplications with each vector of filters. The sums of some
//! neighbouring positions stay in registers over all channels and taps; those of some more stay in a first-level cache until they
//! are transposed, to rows of positions as the [`Epilogue`](super::Epilogue) takes them.
//!
//! Where there are but 16 registers, filters of three taps do not fit beside the sums: there they go one by one ([`tap_by_tap`]).
//!
//! A sum adds the same products in the same order as a vector of positions does, so its bits are the same.

#![allow(
    unsafe_code,
    reason = "lines of an image are read without a check for each, which took up to a tenth of the time"
)]

mod blocks;
mod products;
mod row;
mod tap_by_tap;
mod to_filters;

use std::ops::Range;

use dahl_core::{Element, Real};
use pulp::{Simd, WithSimd};

use super::convolve::Sums;
use super::filters::{Filters, Order};
use super::plane::Plane;
use crate::cpu::lanes::{Lanes, MOST_LANES, has_few_registers, in_vectors, vector_bytes};

use blocks::Blocks;
pub(super) use products::Products;
use row::add_row;
use to_filters::ToFilters;

/// The most vectors of filters whose sums are kept in registers at once.
const MOST_VECTORS: usize = 2;

/// Neighbouring positions whose sums of one vector of filters are kept in 32 registers at once. With the filters of three taps, the
/// first ones fill nearly all registers.
const POSITIONS_AT_ONCE: [usize; 3] = [24, 16, 14];

/// The same for two vectors of filters, or for one in 16 registers,
const HALF_AT_ONCE: [usize; 3] = [12, 8, 7];

/// and for two in 16 registers.
const FEW_AT_ONCE: [usize; 3] = [6, 5, 4];

/// The most of all of these.
const MOST_POSITIONS: usize = POSITIONS_AT_ONCE[0];

/// Neighbouring positions whose sums are kept until they are transposed.
const POSITIONS: usize = 96;

/// The most taps of a row of the kernel whose filters are kept in registers.
const MOST_TAPS: usize = 3;

/// Stands for the columns of a kernel, if their number is not known where the loop is compiled.
const ANY: usize = 0;

/// Products of a sum of the convolution, from which on it is worth transposing.
const LEAST_PRODUCTS: usize = 64;

/// The most bytes of the sums of a group: the epilogue takes whole planes, and fewer filters at once need less memory.
const MOST_BYTES: usize = 16 << 20;

/// Whether vectors of so many bytes are of filters: those of AVX-512 and AVX2.
const fn are_wide(bytes: usize) -> bool {
    bytes >= 32
}

/// Filters in groups of two vectors: for each channel and tap, those of a group lie side by side. The last group may be of one
/// vector, and its last lanes of no filters.
#[derive(Clone, Copy, Debug)]
pub(super) struct FilterVectors {
    shape: Filters,
    lanes: usize,
}

/// Filters whose sums are made together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    /// The number of the first one.
    pub(super) begin: usize,
    /// How many there are.
    pub(super) size: usize,
    /// How many vectors they take.
    vectors: usize,
}

impl FilterVectors {
    /// For these filters, if the machine has the registers, and it pays.
    pub(super) fn new<C: Lanes>(shape: Filters) -> Option<Self> {
        Self::of_bytes::<C>(shape, vector_bytes())
    }

    /// The same with vectors of so many bytes.
    fn of_bytes<C: Lanes>(shape: Filters, bytes: usize) -> Option<Self> {
        if !are_wide(bytes) {
            return None;
        }
        let lanes = bytes / size_of::<C>();
        let is_filled = 4 * shape.out_channels >= 3 * shape.out_channels.next_multiple_of(lanes);
        let are_many = shape.out_channels > lanes && shape.in_channels * shape.taps >= LEAST_PRODUCTS;
        (are_many && is_filled).then_some(Self { shape, lanes })
    }

    /// Whether there are loops for a convolution by these rows of the kernel, and memory for its sums.
    pub(super) fn makes_sums_of<C>(&self, plane: &Plane) -> bool {
        matches!(plane.kernel[1], 1 | 3 | 5)
            && plane.positions().saturating_mul(self.at_once() * size_of::<C>()) <= MOST_BYTES
    }

    /// The same for so many filters.
    pub(super) fn with_filters(self, out_channels: usize) -> Self {
        Self { shape: Filters { out_channels, ..self.shape }, ..self }
    }

    /// Elements of the packed filters.
    pub(super) fn len(&self) -> usize {
        self.shape.out_channels.next_multiple_of(self.lanes) * self.shape.in_channels * self.shape.taps
    }

    /// The most filters of a group.
    pub(super) fn at_once(&self) -> usize {
        MOST_VECTORS * self.lanes
    }

    /// Elements of the sums of a group that are not transposed yet.
    pub(super) fn by_position_len(&self) -> usize {
        // Behind the last sums are positions between rows, fewer than lanes.
        (POSITIONS + MOST_LANES) * self.at_once()
    }

    pub(super) fn groups(self) -> impl Iterator<Item = Group> {
        (0..self.shape.out_channels).step_by(self.at_once()).map(move |begin| self.group(begin))
    }

    /// The group whose first filter has number `begin`.
    pub(super) fn group(&self, begin: usize) -> Group {
        let size = self.at_once().min(self.shape.out_channels - begin);
        Group { begin, size, vectors: size.div_ceil(self.lanes) }
    }

    /// Writes filters to `packed`, group by group; lanes without a filter are 0. Returns whether all are finite.
    pub(super) fn pack<T: Real>(&self, filters: &[T], order: Order, packed: &mut [T::Compute]) -> bool {
        let mut packed = packed.iter_mut();
        let mut are_finite = true;
        for Group { begin, size, vectors } in self.groups() {
            for channel in 0..self.shape.in_channels {
                for tap in 0..self.shape.taps {
                    for lane in 0..vectors * self.lanes {
                        *packed.next().expect("as many as there are") = if lane < size {
                            let filter = filters[self.shape.place(order, begin + lane, channel, tap)];
                            are_finite &= filter.is_finite();
                            filter.widen()
                        } else {
                            T::Compute::ZERO
                        };
                    }
                }
            }
        }
        are_finite
    }

    /// Adds sums that are in the order of packed filters to what is in the order of filters.
    pub(super) fn add_to<C: Lanes>(&self, sums: &[C], filters: &mut [C]) {
        let mut sums = sums.iter();
        let of_filter = self.shape.in_channels * self.shape.taps;
        for Group { begin, size, vectors } in self.groups() {
            for tap in 0..of_filter {
                for (lane, &sum) in sums.by_ref().take(vectors * self.lanes).enumerate() {
                    if lane < size {
                        filters[(begin + lane) * of_filter + tap] += sum;
                    }
                }
            }
        }
    }

    /// The sums of a group at all positions of the output, of `packed` filters and whether they are finite.
    pub(super) fn add_up<C: Lanes>(
        &self,
        Group { begin, size, vectors }: Group,
        (packed, are_finite): (&[C], bool),
        bias: Option<&[C]>,
        sums: Sums<'_, C, C>,
        by_position: &mut [C],
    ) {
        let of_filter = self.shape.in_channels * self.shape.taps;
        let mut initial = [C::ZERO; MOST_VECTORS * MOST_LANES];
        if let Some(bias) = bias {
            initial[..size].copy_from_slice(&bias[begin..][..size]);
        }
        let filters = &packed[begin * of_filter..][..vectors * self.lanes * of_filter];
        in_vectors(AddUp { filters, are_finite, vectors, initial, sums, by_position, begin: 0 });
    }
}

struct AddUp<'a, C> {
    filters: &'a [C],
    /// Whether a filter by the border of zeros is 0.
    are_finite: bool,
    /// Vectors of filters.
    vectors: usize,
    /// What each filter's sums begin with.
    initial: [C; MOST_VECTORS * MOST_LANES],
    sums: Sums<'a, C, C>,
    /// The sums of all filters at a position, side by side, of positions from number `begin` on: the others are transposed.
    by_position: &'a mut [C],
    begin: usize,
}

impl<C: Lanes> WithSimd for AddUp<'_, C> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        // By `const`, here and below: what no vectors of this kind come to is not compiled.
        if const { !are_wide(size_of::<C::Vector<S>>()) } {
            unreachable!("`new` has asked for wide vectors");
        }
        match self.vectors {
            1 => self.all::<S, 1>(simd),
            _ => self.all::<S, MOST_VECTORS>(simd),
        }
    }
}

impl<C: Lanes> AddUp<'_, C> {
    /// The sums of `V` vectors of filters.
    #[inline(always)]
    fn all<S: Simd, const V: usize>(&mut self, simd: S) {
        if const { has_few_registers::<S>() } {
            self.columns::<S, V, ANY>(simd);
        } else {
            match self.sums.plane.kernel[1] {
                1 => self.columns::<S, V, 1>(simd),
                3 => self.columns::<S, V, 3>(simd),
                5 => self.columns::<S, V, 5>(simd),
                columns => unreachable!("`makes_sums_of` has refused {columns} columns"),
            }
        }
        self.transpose::<S, V>(simd, self.sums.plane.positions() - self.begin);
    }

    /// The same for kernels of `K` columns, or of any number of them, not transposed.
    #[inline(always)]
    fn columns<S: Simd, const V: usize, const K: usize>(&mut self, simd: S) {
        const ALL: [usize; 3] = POSITIONS_AT_ONCE;
        const HALF: [usize; 3] = HALF_AT_ONCE;
        const FEW: [usize; 3] = FEW_AT_ONCE;
        if const { !has_few_registers::<S>() && V == 1 } {
            self.rows::<S, V, K, { ALL[0] }, { ALL[1] }, { ALL[2] }>(simd);
        } else if const { !has_few_registers::<S>() || V == 1 } {
            self.rows::<S, V, K, { HALF[0] }, { HALF[1] }, { HALF[2] }>(simd);
        } else {
            self.rows::<S, V, K, { FEW[0] }, { FEW[1] }, { FEW[2] }>(simd);
        }
    }

    /// The same in blocks of `A`, `B` and `D` positions.
    #[inline(always)]
    fn rows<S: Simd, const V: usize, const K: usize, const A: usize, const B: usize, const D: usize>(
        &mut self,
        simd: S,
    ) {
        let Blocks { rows, columns, counts } = Blocks::of(self.sums.plane, [A, B, D]);
        for row in 0..rows {
            let mut begin = 0;
            for _ in 0..counts[0] {
                self.block::<S, V, K, A>(simd, row, begin.min(columns - A));
                begin += A;
            }
            for _ in 0..counts[1] {
                self.block::<S, V, K, B>(simd, row, begin.min(columns - B));
                begin += B;
            }
            for _ in 0..counts[2] {
                self.block::<S, V, K, D>(simd, row, begin.min(columns - D));
                begin += D;
            }
        }
    }

    /// The same of `P` positions of a row, from column number `column` on.
    #[inline(always)]
    fn block<S: Simd, const V: usize, const K: usize, const P: usize>(
        &mut self,
        simd: S,
        row: usize,
        column: usize,
    ) {
        let first = row * self.sums.plane.width() + column;
        self.make_room::<S, V, P>(simd, first);
        let sums = match K {
            ANY => self.tap_by_tap::<S, V, P>(simd, first),
            _ => self.tile::<S, V, K, P>(simd, first),
        };
        let place = (first - self.begin) * V * C::lanes::<S>();
        let (to, _) = C::vectors_mut::<S>(&mut self.by_position[place..]);
        let (to, _) = to[..P * V].as_chunks_mut::<V>();
        // An array, of a size that is known: a copy of slices would have all sums in memory first.
        let to: &mut [[C::Vector<S>; V]; P] = to.try_into().expect("as many as asked for");
        *to = sums;
    }

    /// Transposes sums, if there is no room for those of `P` positions from number `first` on. The last `P` before them stay: of
    /// those, some may be made again.
    #[inline(always)]
    fn make_room<S: Simd, const V: usize, const P: usize>(&mut self, simd: S, first: usize) {
        const { assert!(3 * MOST_POSITIONS + MOST_LANES <= POSITIONS) };
        let kept = first - self.begin;
        if kept + P > POSITIONS {
            let lanes = C::lanes::<S>();
            let complete = (kept - P) / lanes * lanes;
            self.transpose::<S, V>(simd, complete);
            self.by_position.copy_within(complete * V * lanes..kept * V * lanes, 0);
            self.begin += complete;
        }
    }

    /// The sums at `P` positions from number `first` on.
    #[inline(always)]
    fn tile<S: Simd, const V: usize, const K: usize, const P: usize>(
        &self,
        simd: S,
        first: usize,
    ) -> [[C::Vector<S>; V]; P] {
        let mut sums = [self.first_sums::<S, V>(simd); P];
        let plane = *self.sums.plane;
        let (width, len, taps) = (plane.width(), plane.len(), plane.taps());
        let (filters, _) = C::vectors::<S>(self.filters).0.as_chunks::<V>();
        let (of_rows, _) = filters.as_chunks::<K>();
        let channels = filters.len() / taps;
        let line_len = P + K - 1;
        let within = if self.are_finite { plane.columns_within(first, line_len) } else { 0..line_len };
        let kernel_rows = self.rows_of(first, P, channels, line_len);
        for (channel, of_rows) in of_rows.chunks_exact(plane.kernel[0]).enumerate() {
            let mut begin = first + channel * len + kernel_rows.start * width;
            for of_row in &of_rows[kernel_rows.clone()] {
                // SAFETY: `begin` is `first + channel * len + row * width`, of a channel below `channels` and a row below
                // `kernel[0]`: by the assertion of `rows_of` it ends with `planes`, or before.
                let line = unsafe { self.sums.planes.get_unchecked(begin..begin + line_len) };
                begin += width;
                add_row::<C, S, V, K, P>(simd, line, &within, of_row, &mut sums);
            }
        }
        sums
    }

    /// What the sums at a position begin with.
    #[inline(always)]
    fn first_sums<S: Simd, const V: usize>(&self, simd: S) -> [C::Vector<S>; V] {
        let (initial, _) = C::vectors::<S>(&self.initial);
        let mut sums = [C::splat(simd, C::ZERO); V];
        sums.copy_from_slice(&initial[..V]);
        sums
    }

    /// The rows of the kernel that make products at `count` positions from number `first` on. Asserts that their lines, `line_len`
    /// elements from `first` behind the beginning of that row in each of `channels`, end before the planes do.
    #[inline(always)]
    fn rows_of(&self, first: usize, count: usize, channels: usize, line_len: usize) -> Range<usize> {
        let plane = self.sums.plane;
        let last_channel = (channels - 1).checked_mul(plane.len());
        let end = last_channel.and_then(|begin| {
            let last_row = (plane.kernel[0] - 1) * plane.width();
            begin.checked_add(first)?.checked_add(last_row)?.checked_add(line_len)
        });
        assert!(end.is_some_and(|end| end <= self.sums.planes.len()), "the last line ends with the planes");
        if self.are_finite { plane.rows_within(first, count) } else { 0..plane.kernel[0] }
    }

    /// Transposes the sums at the first `count` positions that are kept.
    #[inline(always)]
    fn transpose<S: Simd, const V: usize>(&mut self, simd: S, count: usize) {
        let Sums { sums, sums_len, .. } = &mut self.sums;
        let from = &self.by_position[..count.next_multiple_of(C::lanes::<S>()) * V * C::lanes::<S>()];
        S::vectorize(simd, ToFilters::<C, V> { from, sums, sums_len: *sums_len, begin: self.begin });
    }
}

#[cfg(test)]
mod tests;
