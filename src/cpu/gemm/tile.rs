//! [`Tile`]: the sums of a few rows and a few vectors of columns, kept in registers over a block of the depth.

use std::ops::Range;

use dahl_core::Real;
use pulp::{Simd, WithSimd};

use crate::cpu::lanes::Lanes;
use crate::cpu::prefetch::prefetch;

/// The most rows of a tile.
pub(super) const ROWS: usize = 6;
/// The most vectors of columns of a tile; half as many on machines with half as many registers.
pub(super) const VECTORS: usize = 4;

/// The depth from which a tile takes long enough for prefetches of the output to complete.
const PREFETCH_DEPTH: usize = 64;

/// A part of the left factor: rows of `depth` elements.
#[derive(Clone, Copy)]
pub(super) struct Left<C> {
    pub(super) first: *const C,
    /// The strides of rows, and of the elements of a row.
    pub(super) strides: [isize; 2],
    pub(super) depth: usize,
}

impl<C> Left<C> {
    /// The rows from `row` on.
    #[inline(always)]
    pub(super) fn below(self, row: usize) -> Self {
        Self { first: self.first.wrapping_offset(row as isize * self.strides[0]), ..self }
    }
}

/// A part of the output: contiguous rows of `columns` elements.
#[derive(Clone, Copy)]
pub(super) struct OutputTile<C> {
    pub(super) first: *mut C,
    pub(super) row_stride: isize,
    pub(super) columns: usize,
}

#[cfg(target_arch = "x86_64")]
impl<C> OutputTile<C> {
    /// `columns` columns from number `column` on, in the rows from number `row` on.
    #[inline(always)]
    pub(super) fn part(self, row: usize, column: usize, columns: usize) -> Self {
        let ahead = row as isize * self.row_stride + column as isize;
        Self { first: self.first.wrapping_offset(ahead), columns, ..self }
    }
}

/// A part of the right factor.
#[derive(Clone, Copy)]
pub(super) struct Panel<'a, C> {
    /// The elements from its first one on.
    elements: &'a [C],
    /// The distance of its rows.
    stride: usize,
    /// The elements to prefetch, relative to each row's first. A [`Range`] that is `Copy`.
    ahead: [usize; 2],
}

impl<'a, C> Panel<'a, C> {
    /// The elements of a cache line.
    pub(super) const CACHE_LINE: usize = 64 / size_of::<C>();

    /// One without prefetches.
    #[inline(always)]
    pub(super) fn new(elements: &'a [C], stride: usize) -> Self {
        Self { elements, stride, ahead: [0, 0] }
    }

    /// The same, with elements to prefetch.
    #[inline(always)]
    pub(super) fn prefetching(self, ahead: Range<usize>) -> Self {
        Self { ahead: [ahead.start, ahead.end], ..self }
    }
}

/// How sums are written: `out = alpha * sums + beta * out`; with a `beta` of 0, `out` is not read.
#[derive(Clone, Copy)]
pub(super) struct Scale<C> {
    pub(super) alpha: C,
    pub(super) beta: C,
}

impl<C: Real> Scale<C> {
    /// Whether the sums are written as they are.
    #[inline(always)]
    fn is_one(&self) -> bool {
        self.alpha == C::ONE && self.beta == C::ZERO
    }
}

/// A product of `R` rows with a few vectors of columns, written to `output`.
///
/// # Shapes
/// `left: [R, depth]`; `right: [depth, stride]`, of which the first vectors of columns are multiplied. The last row of
/// `right` may end after them.
#[derive(Clone, Copy)]
pub(super) struct Tile<'a, C, const R: usize> {
    left: Left<C>,
    right: Panel<'a, C>,
    output: OutputTile<C>,
    scale: Scale<C>,
}

impl<'a, C, const R: usize> Tile<'a, C, R> {
    /// # Safety
    /// While it lives, the elements of `R` rows of `left` are valid for reads, and those of `output` for reads and
    /// writes; nothing else writes the former or accesses the latter.
    #[allow(unsafe_code, reason = "several tiles of one matrix are written through one pointer")]
    #[inline(always)]
    pub(super) unsafe fn new(
        left: Left<C>,
        right: Panel<'a, C>,
        output: OutputTile<C>,
        scale: Scale<C>,
    ) -> Self {
        Self { left, right, output, scale }
    }
}

/// Computes a [`Tile`] of `V` vectors.
pub(super) struct Compute<'a, C, const R: usize, const V: usize>(pub(super) Tile<'a, C, R>);

impl<C: Lanes, const R: usize, const V: usize> WithSimd for Compute<'_, C, R, V> {
    type Output = ();

    #[allow(unsafe_code, reason = "several tiles of one matrix are written through one pointer")]
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Tile { left, right, output, scale } = self.0;
        let lanes = C::lanes::<S>();
        let is_whole = output.columns == V * lanes;
        assert!(is_whole || (V - 1) * lanes < output.columns && output.columns < V * lanes);
        if left.depth >= PREFETCH_DEPTH {
            for row in 0..R as isize {
                for vector in 0..V {
                    prefetch(
                        output.first.wrapping_offset(row * output.row_stride + (vector * lanes) as isize),
                    );
                }
            }
        }
        // SAFETY: `new` requires the elements of `left`.
        let sums = unsafe { sums::<C, S, R, V>(simd, left, right) };
        // Loops of known lengths, so that no sum passes through memory.
        for (row, sums) in sums.into_iter().enumerate() {
            let first = output.first.wrapping_offset(row as isize * output.row_stride);
            // SAFETY: `row` is one of the rows of `output`, whose elements `new` requires.
            let out = unsafe { std::slice::from_raw_parts_mut(first, output.columns) };
            for (vector, sum) in sums.into_iter().enumerate() {
                let out = &mut out[vector * lanes..];
                if vector + 1 < V || is_whole {
                    let out = &mut C::vectors_mut::<S>(&mut out[..lanes]).0[0];
                    *out = if scale.is_one() { sum } else { scaled(simd, scale, sum, *out) };
                } else {
                    let sum =
                        if scale.is_one() { sum } else { scaled(simd, scale, sum, C::load_first(simd, out)) };
                    C::store_first(simd, sum, out);
                }
            }
        }
    }
}

/// `alpha * sum + beta * out`.
#[inline(always)]
fn scaled<C: Lanes, S: Simd>(
    simd: S,
    Scale { alpha, beta }: Scale<C>,
    sum: C::Vector<S>,
    out: C::Vector<S>,
) -> C::Vector<S> {
    let zero = C::splat(simd, C::ZERO);
    let old = if beta == C::ZERO { zero } else { C::multiply(simd, C::splat(simd, beta), out) };
    C::multiply_add(simd, C::splat(simd, alpha), sum, old)
}

/// The sums of `R` rows and `V` vectors of columns.
///
/// # Safety
/// The elements of `R` rows of `left` are valid for reads, and nothing writes them meanwhile.
#[allow(unsafe_code, reason = "without it each element of `a` would be one comparison more")]
#[inline(always)]
unsafe fn sums<C: Lanes, S: Simd, const R: usize, const V: usize>(
    simd: S,
    left: Left<C>,
    Panel { elements: b, stride, ahead: [ahead, end_ahead] }: Panel<'_, C>,
) -> [[C::Vector<S>; V]; R] {
    let mut sums = [[C::splat(simd, C::ZERO); V]; R];
    let Some(last) = left.depth.checked_sub(1) else { return sums };
    let end = last.checked_mul(stride).and_then(|begin| begin.checked_add(V * C::lanes::<S>()));
    assert!(end.is_some_and(|end| end <= b.len()), "the rows of the right factor end behind it");
    let [row_stride, depth_stride] = left.strides;
    // Each address serves the rows at offsets of 0, 1 and 2 strides: instructions encode no more, and registers are
    // few.
    let mut firsts = [left.first, left.first.wrapping_offset((ROWS / 2) as isize * row_stride)];
    let mut from = b.as_ptr();
    for _ in 0..left.depth {
        let mut line = ahead;
        // Only in the widest tiles: in others the test would cost more than it saves.
        while const { V == VECTORS } && line < end_ahead {
            prefetch(from.wrapping_add(line));
            line += Panel::<C>::CACHE_LINE;
        }
        // SAFETY: these are elements of `b`, by the assertion.
        let row = unsafe { std::slice::from_raw_parts(from, V * C::lanes::<S>()) };
        let vectors: [C::Vector<S>; V] = C::vectors::<S>(row).0.try_into().expect("as many as asked for");
        for (row, sums) in sums.iter_mut().enumerate() {
            let first = firsts[row / (ROWS / 2)];
            let element = first.wrapping_offset((row % (ROWS / 2)) as isize * row_stride);
            // SAFETY: the first of `firsts` is the element of row 0 and this depth, the second that of row `ROWS / 2`,
            // so `element` is that of `row`, which is below `R`.
            let a = C::splat(simd, unsafe { *element });
            for (sum, &vector) in sums.iter_mut().zip(&vectors) {
                *sum = C::multiply_add(simd, a, vector, *sum);
            }
        }
        firsts = firsts.map(|first| first.wrapping_offset(depth_stride));
        from = from.wrapping_add(stride);
    }
    sums
}
