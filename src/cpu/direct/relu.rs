//! [`Relu`] and [`ReluPool`]: epilogues that rectify sums, and pool them.

use std::ops::Range;

use dahl_core::{Element, Real};
use pulp::Simd;

use super::convolve::Epilogue;
use super::plane::{Channels, Plane, narrow};
use crate::cpu::compute::computes_in_itself;
use crate::cpu::lanes::{Lanes, MOST_LANES};

/// `out = max(sums, 0)`, `[batch, out_channels, rows, columns]`.
pub(crate) struct Relu<'a, T> {
    pub(crate) out: &'a mut [T],
    pub(crate) out_channels: usize,
}

/// `out = ` the maximum of each window of `max(sums, 0)`; windows do not overlap. `index` is the position of the
/// largest sum in the plane of sums, `row * columns + column`: of the first of equal ones, or of the first NaN.
pub(crate) struct ReluPool<'a, T: Real> {
    pub(crate) out: &'a mut [T],
    pub(crate) index: &'a mut [u32],
    pub(crate) out_channels: usize,
    /// The window.
    pub(crate) size: [usize; 2],
    pub(crate) workspace: PoolWorkspace<'a, T::Compute>,
}

/// The working memory of [`ReluPool`], with the lengths of [`PoolWorkspace::lengths`].
pub(crate) struct PoolWorkspace<'a, C> {
    /// The places of the windows' first elements: see [`window_places`].
    pub(crate) firsts: &'a [u32],
    /// The maximum of each window.
    pub(crate) best: &'a mut [C],
    /// Its distance from the window's first element, as bits; not for windows of two by two.
    pub(crate) offsets: &'a mut [C],
    /// Its index; for windows of two by two.
    pub(crate) places: &'a mut [u32],
    /// The maximum of the window's row that begins at each position of a row; not for windows of two by two.
    pub(crate) row: &'a mut [C],
    /// Its distance from there.
    pub(crate) row_offsets: &'a mut [C],
}

/// Windows that are computed together.
pub(super) const WINDOWS: usize = 16;
const _: () = assert!(WINDOWS >= MOST_LANES);

impl<C> PoolWorkspace<'_, C> {
    /// The lengths of `best`, `offsets` and `places`, and of `row` and `row_offsets`.
    pub(crate) fn lengths(output: [usize; 2], size: [usize; 2]) -> [usize; 2] {
        let [rows, cols] = pooled(output, size);
        [rows * cols + WINDOWS, cols.next_multiple_of(WINDOWS) * size[1] + WINDOWS]
    }
}

impl<T: Real<Compute: Lanes>> Epilogue<T::Compute> for Relu<'_, T> {
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
        for sum in &mut sums[..plane.positions()] {
            *sum = sum.max(T::Compute::ZERO);
        }
        plane.gather(simd, sums, out);
    }
}

impl<T: Real<Compute: Lanes>> Epilogue<T::Compute> for ReluPool<'_, T> {
    /// The last vector of a row extends past its end. For windows of two by two it stands for twice as many sums; for
    /// others, the last column of its windows is past it.
    fn required_padding(&self) -> usize {
        (self.size[1] + 1) * MOST_LANES
    }

    fn written(&self, plane: &Plane, image: usize, filters: Range<usize>) -> [&[u8]; 2] {
        let windows = pooled(plane.output(), self.size).iter().product();
        let channels = Channels { count: self.out_channels, len: windows };
        let out = channels.of(self.out, image, filters.clone());
        [bytemuck::cast_slice(out), bytemuck::cast_slice(channels.of(self.index, image, filters))]
    }

    #[inline(always)]
    fn take<S: Simd>(
        &mut self,
        simd: S,
        plane: &Plane,
        [image, filter]: [usize; 2],
        sums: &mut [T::Compute],
    ) {
        let windows = pooled(plane.output(), self.size).iter().product();
        let begin = (image * self.out_channels + filter) * windows;
        let (out, index) = (&mut self.out[begin..], &mut self.index[begin..]);
        let workspace = &mut self.workspace;
        if self.size == [2, 2] {
            // Directly to the output, if what is written past the plane fits in it: later planes overwrite that.
            if computes_in_itself::<T>() && out.len() >= windows + WINDOWS {
                return pool_fours(simd, plane, sums, bytemuck::cast_slice_mut(out), index);
            }
            pool_fours(simd, plane, sums, workspace.best, workspace.places);
            index[..windows].copy_from_slice(&workspace.places[..windows]);
        } else {
            // With a window known at compile time, the maxima stay in registers.
            match self.size {
                [3, 3] => workspace.pool::<S, 3, 3>(simd, plane, sums, [3, 3]),
                size => workspace.pool::<S, 0, 0>(simd, plane, sums, size),
            }
            for ((place, first), offset) in index.iter_mut().zip(workspace.firsts).zip(&*workspace.offsets) {
                *place = first.wrapping_add(offset.bits());
            }
        }
        narrow(simd, &workspace.best[..windows], &mut out[..windows]);
    }
}

impl<C: Lanes> PoolWorkspace<'_, C> {
    /// Pools the windows of one plane of sums. They have `ROWS` by `COLUMNS` elements; 0: as many as `size` says.
    #[inline(always)]
    fn pool<S: Simd, const ROWS: usize, const COLUMNS: usize>(
        &mut self,
        simd: S,
        plane: &Plane,
        sums: &[C],
        size: [usize; 2],
    ) {
        let size = if ROWS == 0 { size } else { [ROWS, COLUMNS] };
        let ([rows, cols], columns) = (pooled(plane.output(), size), plane.output()[1]);
        let (values, offsets) = (&mut *self.row, &mut *self.row_offsets);
        for row in 0..rows {
            for begin in (0..cols * size[1]).step_by(C::lanes::<S>()) {
                let sums = &sums[row * size[0] * plane.width() + begin..];
                let best = largest(simd, sums, plane.width(), size, columns);
                *vector_mut::<C, S>(values, begin) = at_least_0::<C, S>(simd, best.value);
                *vector_mut::<C, S>(offsets, begin) = best.offset;
            }
            // Whole vectors of windows. Elements written past the row's end belong to the next row, which overwrites
            // them.
            let windows = cols.next_multiple_of(WINDOWS);
            pick(&mut self.best[row * cols..][..windows], values, size[1]);
            pick(&mut self.offsets[row * cols..][..windows], offsets, size[1]);
        }
    }
}

/// [`pool`](PoolWorkspace::pool) for windows of two by two, a window in each lane: writes the maxima to `best`, and
/// their indices to `places`.
#[inline(always)]
fn pool_fours<C: Lanes, S: Simd>(simd: S, plane: &Plane, sums: &[C], best: &mut [C], places: &mut [u32]) {
    let ([rows, cols], columns, lanes) = (pooled(plane.output(), [2, 2]), plane.output()[1], C::lanes::<S>());
    let upper_offsets = offset_pair::<C, S>(simd, 0);
    let lower_offsets = offset_pair::<C, S>(simd, columns);
    let mut firsts = [C::ZERO; MOST_LANES];
    for (window, first) in firsts.iter_mut().enumerate() {
        *first = C::of_bits(2 * window as u32);
    }
    let firsts = vector::<C, S>(&firsts, 0);
    let windows = cols.next_multiple_of(lanes);
    for row in 0..rows {
        let upper = &sums[2 * row * plane.width()..];
        let lower = &upper[plane.width()..];
        let (upper, _) = C::vectors::<S>(&upper[..2 * windows]).0.as_chunks::<2>();
        let (lower, _) = C::vectors::<S>(&lower[..2 * windows]).0.as_chunks::<2>();
        // Past the row's end, as in `pool`.
        let (best, _) = C::vectors_mut::<S>(&mut best[row * cols..][..windows]);
        let places = places[row * cols..][..windows].chunks_exact_mut(lanes);
        let mut first = 2 * row * columns;
        for (((upper, lower), best), places) in upper.iter().zip(lower).zip(best).zip(places) {
            let upper = larger_of_pairs::<C, S>(simd, *upper, upper_offsets);
            let lower = larger_of_pairs::<C, S>(simd, *lower, lower_offsets);
            let Best { value, offset } = larger(simd, lower, upper);
            *best = at_least_0::<C, S>(simd, C::in_order(simd, value));
            let offset = C::in_order(simd, offset);
            let place = C::add_bits(simd, offset, C::splat(simd, C::of_bits(first as u32)));
            C::store_bits(simd, C::add_bits(simd, place, firsts), places);
            first += 2 * lanes;
        }
    }
}

/// Every `step`th element, from the first.
#[inline(always)]
fn pick<C: Copy>(to: &mut [C], from: &[C], step: usize) {
    for (to, from) in to.iter_mut().zip(from.chunks_exact(step)) {
        *to = from[0];
    }
}

/// In each lane, the maximum of a window, and its distance from the first element: `row * columns + column`.
struct Best<C: Lanes, S: Simd> {
    value: C::Vector<S>,
    offset: C::Vector<S>,
}

/// The maxima of the windows that begin at the first sums.
#[inline(always)]
fn largest<C: Lanes, S: Simd>(
    simd: S,
    sums: &[C],
    width: usize,
    size: [usize; 2],
    columns: usize,
) -> Best<C, S> {
    let mut best = largest_of_row(simd, sums, 0, size[1]);
    for row in 1..size[0] {
        let of_row = largest_of_row(simd, &sums[row * width..], row * columns, size[1]);
        best = larger(simd, of_row, best);
    }
    best
}

/// The maxima of one row of each window, whose first offset is `first`.
#[inline(always)]
fn largest_of_row<C: Lanes, S: Simd>(simd: S, sums: &[C], first: usize, columns: usize) -> Best<C, S> {
    let at = |column: usize| Best {
        value: vector::<C, S>(sums, column),
        offset: C::splat(simd, C::of_bits((first + column) as u32)),
    };
    let mut best = at(0);
    for column in 1..columns {
        best = larger(simd, at(column), best);
    }
    best
}

/// For each lane, in the order of [`Lanes::unzip`], the larger of two neighbouring elements, which have these offsets.
#[inline(always)]
fn larger_of_pairs<C: Lanes, S: Simd>(
    simd: S,
    elements: [C::Vector<S>; 2],
    offsets: [C::Vector<S>; 2],
) -> Best<C, S> {
    let [even, odd] = C::unzip(simd, elements);
    let even = Best { value: even, offset: offsets[0] };
    let odd = Best { value: odd, offset: offsets[1] };
    larger(simd, odd, even)
}

/// `first` and the next, in each lane.
#[inline(always)]
pub(super) fn offset_pair<C: Lanes, S: Simd>(simd: S, first: usize) -> [C::Vector<S>; 2] {
    [C::splat(simd, C::of_bits(first as u32)), C::splat(simd, C::of_bits(first as u32 + 1))]
}

/// `max(value, 0)`; NaN stays.
#[inline(always)]
fn at_least_0<C: Lanes, S: Simd>(simd: S, value: C::Vector<S>) -> C::Vector<S> {
    let zero = C::splat(simd, C::ZERO);
    C::select(simd, C::is_at_most(simd, value, zero), zero, value)
}

/// `a` where it is larger, else `b`. NaN is larger than any number.
#[inline(always)]
fn larger<C: Lanes, S: Simd>(simd: S, a: Best<C, S>, b: Best<C, S>) -> Best<C, S> {
    let is_larger = C::is_larger(simd, a.value, b.value);
    Best {
        value: C::select(simd, is_larger, a.value, b.value),
        offset: C::select(simd, is_larger, a.offset, b.offset),
    }
}

/// The vector whose first element is number `begin`.
#[inline(always)]
pub(super) fn vector<C: Lanes, S: Simd>(elements: &[C], begin: usize) -> C::Vector<S> {
    C::vectors::<S>(&elements[begin..][..C::lanes::<S>()]).0[0]
}

/// As [`vector`].
#[inline(always)]
fn vector_mut<C: Lanes, S: Simd>(elements: &mut [C], begin: usize) -> &mut C::Vector<S> {
    &mut C::vectors_mut::<S>(&mut elements[begin..][..C::lanes::<S>()]).0[0]
}

/// Rows and columns of windows of this size that do not overlap.
pub(crate) fn pooled(output: [usize; 2], size: [usize; 2]) -> [usize; 2] {
    [output[0] / size[0], output[1] / size[1]]
}

/// The places of the first elements of windows that do not overlap, in a plane of `output` rows and columns.
pub(crate) fn window_places(output: [usize; 2], size: [usize; 2], places: &mut [u32]) {
    let [rows, cols] = pooled(output, size);
    assert_eq!(places.len(), rows * cols);
    for (window, place) in places.iter_mut().enumerate() {
        *place = (window / cols * size[0] * output[1] + window % cols * size[1]) as u32;
    }
}
