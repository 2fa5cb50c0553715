//! [`Relu`] and [`ReluPool`]: sums that are rectified, and pooled, while they are at hand.

use dahl_core::{Element, Real};
use pulp::Simd;

use super::convolve::Epilogue;
use super::plane::{Plane, narrow};
use crate::cpu::lanes::{Lanes, MOST_LANES};

/// `out = max(sums, 0)`, `[batch, out_channels, rows, columns]`.
pub(crate) struct Relu<'a, T> {
    pub(crate) out: &'a mut [T],
    pub(crate) out_channels: usize,
}

/// `out = ` the largest of each window of `max(sums, 0)`; windows do not overlap. `index` is where in the plane of sums,
/// `row * columns + column`, the largest sum was: the first of equal ones, or of NaN.
pub(crate) struct ReluPool<'a, T: Real> {
    pub(crate) out: &'a mut [T],
    pub(crate) index: &'a mut [u32],
    pub(crate) out_channels: usize,
    /// The window.
    pub(crate) size: [usize; 2],
    pub(crate) room: PoolRoom<'a, T::Compute>,
}

/// What [`ReluPool`] writes in between, of the lengths that [`PoolRoom::lengths`] gives.
pub(crate) struct PoolRoom<'a, C> {
    /// The largest of each window.
    pub(crate) best: &'a mut [C],
    /// Where it was.
    pub(crate) places: &'a mut [u32],
    /// The largest of the window that begins at each position of a row; not of windows of two by two.
    pub(crate) row: &'a mut [C],
    /// How far from there it was; of windows of two by two, how far from the window's first.
    pub(crate) offsets: &'a mut [C],
}

/// Windows that are looked at together.
pub(super) const WINDOWS: usize = 16;

impl<C> PoolRoom<'_, C> {
    /// The lengths of `best` and `places`, and of `row` and `offsets`.
    pub(crate) fn lengths(output: [usize; 2], size: [usize; 2]) -> [usize; 2] {
        let [rows, cols] = pooled(output, size);
        [rows * cols + WINDOWS, cols.next_multiple_of(WINDOWS) * size[1] + WINDOWS]
    }
}

impl<T: Real<Compute: Lanes>> Epilogue<T::Compute> for Relu<'_, T> {
    #[inline(always)]
    fn take<S: Simd>(
        &mut self,
        simd: S,
        plane: &Plane,
        [image, filter]: [usize; 2],
        sums: &mut [T::Compute],
    ) {
        let [rows, columns] = plane.output();
        let out = &mut self.out[(image * self.out_channels + filter) * rows * columns..][..rows * columns];
        for sum in &mut sums[..plane.positions()] {
            *sum = sum.max(T::Compute::ZERO);
        }
        plane.gather(simd, sums, out);
    }
}

impl<T: Real<Compute: Lanes>> Epilogue<T::Compute> for ReluPool<'_, T> {
    /// The last vector of a row begins before its end. Of windows of two by two it stands for twice as many sums; of others,
    /// their last column is behind it.
    fn reach(&self) -> usize {
        (self.size[1] + 1) * MOST_LANES
    }

    #[inline(always)]
    fn take<S: Simd>(
        &mut self,
        simd: S,
        plane: &Plane,
        [image, filter]: [usize; 2],
        sums: &mut [T::Compute],
    ) {
        let [rows, cols] = pooled(plane.output(), self.size);
        let begin = (image * self.out_channels + filter) * rows * cols;
        // Of a window that is known, the largest elements stay in registers.
        match self.size {
            [2, 2] => self.pool_fours(simd, plane, sums),
            [3, 3] => self.pool::<S, 3, 3>(simd, plane, sums),
            _ => self.pool::<S, 0, 0>(simd, plane, sums),
        }
        narrow(simd, &self.room.best[..rows * cols], &mut self.out[begin..][..rows * cols]);
        self.index[begin..][..rows * cols].copy_from_slice(&self.room.places[..rows * cols]);
    }
}

impl<T: Real<Compute: Lanes>> ReluPool<'_, T> {
    /// The windows of one plane of sums. They have `ROWS` by `COLUMNS` elements; 0: as many as they have.
    #[inline(always)]
    fn pool<S: Simd, const ROWS: usize, const COLUMNS: usize>(
        &mut self,
        simd: S,
        plane: &Plane,
        sums: &[T::Compute],
    ) {
        let size = if ROWS == 0 { self.size } else { [ROWS, COLUMNS] };
        let ([rows, cols], columns) = (pooled(plane.output(), size), plane.output()[1]);
        let zero = T::Compute::splat(simd, T::Compute::ZERO);
        for row in 0..rows {
            for begin in (0..cols * size[1]).step_by(T::Compute::lanes::<S>()) {
                let sums = &sums[row * size[0] * plane.width() + begin..];
                let best = largest(simd, sums, plane.width(), size, columns);
                let is_positive = T::Compute::is_larger(simd, best.value, zero);
                *vector_mut::<T::Compute, S>(self.room.row, begin) =
                    T::Compute::select(simd, is_positive, best.value, zero);
                *vector_mut::<T::Compute, S>(self.room.offsets, begin) = best.offset;
            }
            self.pick(row * cols, size[1], cols, row * size[0] * columns);
        }
    }

    /// [`pool`](Self::pool) for windows of two by two, a window in each lane.
    #[inline(always)]
    fn pool_fours<S: Simd>(&mut self, simd: S, plane: &Plane, sums: &[T::Compute]) {
        let ([rows, cols], columns) = (pooled(plane.output(), [2, 2]), plane.output()[1]);
        let zero = T::Compute::splat(simd, T::Compute::ZERO);
        for row in 0..rows {
            let upper = &sums[2 * row * plane.width()..];
            let lower = &upper[plane.width()..];
            for begin in (0..cols).step_by(T::Compute::lanes::<S>()) {
                let above = larger_of_pairs(simd, &upper[2 * begin..], 0);
                let below = larger_of_pairs(simd, &lower[2 * begin..], columns);
                let best = larger(simd, below, above);
                let is_positive = T::Compute::is_larger(simd, best.value, zero);
                *vector_mut::<T::Compute, S>(self.room.best, row * cols + begin) =
                    T::Compute::select(simd, is_positive, best.value, zero);
                *vector_mut::<T::Compute, S>(self.room.offsets, begin) = best.offset;
            }
            // As in `pick`.
            let places = &mut self.room.places[row * cols..][..cols.next_multiple_of(WINDOWS)];
            let first = 2 * row * columns;
            for (window, (place, offset)) in places.iter_mut().zip(&*self.room.offsets).enumerate() {
                *place = offset.bits().wrapping_add((first + 2 * window) as u32);
            }
        }
    }

    /// Those of the windows: `cols` of them, `step` positions from one to the next. The first is number `to`, and its
    /// first place is `first`.
    #[inline(always)]
    fn pick(&mut self, to: usize, step: usize, cols: usize, first: usize) {
        // Whole vectors of windows. What is written behind the row's end is the next row's, and written again.
        let windows = cols.next_multiple_of(WINDOWS);
        let best = &mut self.room.best[to..][..windows];
        for (best, row) in best.iter_mut().zip(self.room.row.chunks_exact(step)) {
            *best = row[0];
        }
        let places = &mut self.room.places[to..][..windows];
        for (window, (place, offset)) in
            places.iter_mut().zip(self.room.offsets.chunks_exact(step)).enumerate()
        {
            *place = offset[0].bits().wrapping_add((first + window * step) as u32);
        }
    }
}

/// For each lane the largest element of a window, and how far it is from the first: `row * columns + column`.
struct Best<C: Lanes, S: Simd> {
    value: C::Vector<S>,
    offset: C::Vector<S>,
}

/// Of the windows that begin at the first sums.
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

/// Of one row of each window, whose first offset is `first`.
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

/// For each lane the larger of a pair of elements that follow each other; the first of the row has offset `first`.
#[inline(always)]
fn larger_of_pairs<C: Lanes, S: Simd>(simd: S, elements: &[C], first: usize) -> Best<C, S> {
    let vectors = [vector::<C, S>(elements, 0), vector::<C, S>(elements, C::lanes::<S>())];
    let [even, odd] = C::unzip(simd, vectors);
    let even = Best { value: even, offset: C::splat(simd, C::of_bits(first as u32)) };
    let odd = Best { value: odd, offset: C::splat(simd, C::of_bits(first as u32 + 1)) };
    larger(simd, odd, even)
}

/// `a` where that is larger. NaN is, than what is not.
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
fn vector<C: Lanes, S: Simd>(elements: &[C], begin: usize) -> C::Vector<S> {
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
