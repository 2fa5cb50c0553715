//! [`Unpool`]: computes the gradient by the sums from the gradient by the output of [`ReluPool`](super::ReluPool).

use std::ops::Range;

use dahl_core::{Real, simd as loops};
use pulp::{Simd, WithSimd};

use super::plane::{Channels, Plane, narrow};
use super::relu::{WINDOWS, offset_pair, pooled, vector};
use super::source::Source;
use crate::cpu::compute::computes_in_itself;
use crate::cpu::lanes::{Lanes, MOST_LANES, in_vectors};
use crate::cpu::scratch::with_scratch;

/// Each element of `gradient` goes to the position of its window's maximum, if that was above 0 (or NaN, as in
/// [`relu_backward`](crate::ops::relu_backward)); all other sums get 0. The gradient that passes is also summed over
/// each channel.
pub(crate) struct Unpool<'a, T: Real> {
    pub(crate) gradient: &'a [T],
    /// The pooled output.
    pub(crate) out: &'a [T],
    pub(crate) index: &'a [u32],
    /// The window.
    pub(crate) size: [usize; 2],
    /// The gradient by the bias, to which the sums of the channels are added.
    pub(crate) by_bias: &'a mut [T::Compute],
    pub(crate) workspace: UnpoolWorkspace<'a, T::Compute>,
}

/// The working memory of [`Unpool`], for the windows of a channel, of which whole vectors are read.
pub(crate) struct UnpoolWorkspace<'a, C> {
    /// The places of the windows' first elements: see [`window_places`](super::window_places).
    pub(crate) firsts: &'a [u32],
    /// The distance from there to where the gradient goes, as bits.
    pub(crate) offsets: &'a mut [C],
    /// The gradient that ReLU passes; not for windows of two by two.
    pub(crate) passed: &'a mut [C],
    /// The gradient, if it is not in the compute type, or if no whole vectors follow it.
    pub(crate) gradient: &'a mut [C],
    /// As `gradient`, of the output.
    pub(crate) out: &'a mut [C],
}

impl<C> UnpoolWorkspace<'_, C> {
    /// The length of each but `firsts`.
    pub(crate) fn len(windows: usize) -> usize {
        windows + WINDOWS
    }
}

impl<T: Real<Compute: Lanes>> Source<T::Compute> for Unpool<'_, T> {
    /// A vector of windows of two by two is two vectors of a row, and the last ones extend past its end.
    fn required_padding(&self) -> usize {
        if self.size == [2, 2] { 2 * WINDOWS } else { 0 }
    }

    fn read(&self, _: &Plane, image: usize, filters: Range<usize>) -> [&[u8]; 3] {
        let channels = Channels { count: self.by_bias.len(), len: self.workspace.firsts.len() };
        let [gradient, out] = [self.gradient, self.out].map(|of| channels.of(of, image, filters.clone()));
        let index = channels.of(self.index, image, filters);
        [bytemuck::cast_slice(gradient), bytemuck::cast_slice(out), bytemuck::cast_slice(index)]
    }

    #[inline(always)]
    fn fill<S: Simd>(
        &mut self,
        simd: S,
        plane: &Plane,
        image: usize,
        filters: Range<usize>,
        parts: &mut [T::Compute],
        part_len: usize,
    ) {
        let (channels, len) = (self.by_bias.len(), self.workspace.firsts.len());
        for (channel, part) in filters.zip(parts.chunks_exact_mut(part_len)) {
            let begin = (image * channels + channel) * len;
            let index = &self.index[begin..][..len];
            let gradient = with_vectors(&self.gradient[begin..], len, self.workspace.gradient);
            let out = with_vectors(&self.out[begin..], len, self.workspace.out);
            // Windows known at compile time are written in vectors.
            let (firsts, offsets, columns) =
                (self.workspace.firsts, &mut *self.workspace.offsets, plane.output()[1]);
            if self.size == [2, 2] && find::<T::Compute, 2, 2>(index, firsts, columns, offsets) {
                let spread = SpreadFours { plane, gradient, out, offsets, part };
                self.by_bias[channel] += simd.vectorize(spread);
                continue;
            }
            let passed = &mut self.workspace.passed[..len];
            for ((passed, &gradient), &out) in passed.iter_mut().zip(gradient).zip(out) {
                *passed = rectified(out, gradient);
            }
            self.by_bias[channel] += loops::sum(passed);
            if self.size == [3, 3] && find::<T::Compute, 3, 3>(index, firsts, columns, offsets) {
                spread::<T::Compute, 3, 3>(plane, &self.workspace, part);
            } else {
                self.workspace.scatter(plane, index, part);
            }
        }
    }
}

/// `elements`, of which `len` rounded up to whole vectors can be read: copied to `workspace` if they are not in the
/// compute type or end before that.
#[inline(always)]
fn with_vectors<'a, T: Real>(
    elements: &'a [T],
    len: usize,
    workspace: &'a mut [T::Compute],
) -> &'a [T::Compute] {
    if computes_in_itself::<T>() && elements.len() >= len + WINDOWS {
        return bytemuck::cast_slice(elements);
    }
    T::widen_slice(&elements[..len], &mut workspace[..len]);
    workspace
}

/// Finds the distance of each index from the first element of its window; false if an index is not in its window of
/// `ROWS` by `COLUMNS`, which no pooling returns.
#[inline(always)]
fn find<C: Lanes, const ROWS: usize, const COLUMNS: usize>(
    index: &[u32],
    firsts: &[u32],
    columns: usize,
    offsets: &mut [C],
) -> bool {
    let mut outside = 0;
    for ((to, place), first) in offsets.iter_mut().zip(index).zip(firsts) {
        let offset = place.wrapping_sub(*first);
        let mut is_inside = false;
        for row in 0..ROWS {
            is_inside |= offset.wrapping_sub((row * columns) as u32) < COLUMNS as u32;
        }
        outside |= u32::from(!is_inside);
        *to = C::of_bits(offset);
    }
    outside == 0
}

/// Writes the gradient of `source` for each plane of `output` rows and columns.
pub(crate) fn unpool<T: Real<Compute: Lanes>>(output: [usize; 2], source: Unpool<'_, T>, out: &mut [T]) {
    struct Planes<'a, T: Real> {
        plane: Plane,
        source: Unpool<'a, T>,
        part: &'a mut [T::Compute],
        out: &'a mut [T],
    }
    impl<T: Real<Compute: Lanes>> WithSimd for Planes<'_, T> {
        type Output = ();

        #[inline(always)]
        fn with_simd<S: Simd>(mut self, simd: S) {
            let (part_len, len) = (self.part.len(), self.plane.positions());
            for (number, out) in self.out.chunks_exact_mut(len).enumerate() {
                self.source.fill(simd, &self.plane, 0, number..number + 1, self.part, part_len);
                narrow(simd, &self.part[..len], out);
            }
        }
    }
    // Without a border, and with a kernel of one element, positions are those of the output.
    let plane = Plane::borderless(output);
    with_scratch([plane.positions() + source.required_padding()], |[part]: [&mut [T::Compute]; 1]| {
        in_vectors(Planes { plane, source, part, out });
    });
}

impl<C: Lanes> UnpoolWorkspace<'_, C> {
    /// Writes the gradient that passes to its positions, for windows of any size and any index.
    fn scatter(&self, plane: &Plane, index: &[u32], part: &mut [C]) {
        part.fill(C::ZERO);
        let (columns, width) = (plane.output()[1], plane.width());
        let part = &mut part[..plane.positions()]; // a place behind it is none
        for (&passed, &place) in self.passed.iter().zip(index) {
            let place = place as usize;
            part[place / columns * width + place % columns] = passed;
        }
    }
}

/// Writes the gradient that passes to its positions, for windows of `ROWS` by `COLUMNS`, and zeros elsewhere.
#[inline(always)]
fn spread<C: Lanes, const ROWS: usize, const COLUMNS: usize>(
    plane: &Plane,
    workspace: &UnpoolWorkspace<'_, C>,
    part: &mut [C],
) {
    let ([rows, cols], columns) = (pooled(plane.output(), [ROWS, COLUMNS]), plane.output()[1]);
    // Whole vectors of windows: those past the row's end are zeros, which the next row overwrites. In the last rows the
    // vectors may end before the part does, by less than a window.
    let covers_rows = cols.next_multiple_of(WINDOWS) * COLUMNS >= plane.width();
    let covered = if covers_rows { rows * ROWS * plane.width() } else { 0 };
    part[covered.saturating_sub(COLUMNS)..].fill(C::ZERO);
    for row in 0..rows {
        for window_row in 0..ROWS {
            let (line, _) = part[(row * ROWS + window_row) * plane.width()..].as_chunks_mut::<COLUMNS>();
            let first = (window_row * columns) as u32;
            let windows = cols.next_multiple_of(WINDOWS).min(line.len());
            let passed = &workspace.passed[row * cols..][..windows];
            let offsets = &workspace.offsets[row * cols..][..windows];
            spread_row(&mut line[..windows], passed, offsets, cols, first);
        }
    }
}

/// Writes one row of the elements of windows: the element at its window's offset gets the gradient that passes, the
/// others 0. The first of the row has the offset `first`; windows from number `cols` on do not exist.
#[inline(always)]
fn spread_row<C: Lanes, const COLUMNS: usize>(
    line: &mut [[C; COLUMNS]],
    passed: &[C],
    offsets: &[C],
    cols: usize,
    first: u32,
) {
    let cols = cols as u32;
    for window in 0..line.len() {
        let passed = if (window as u32) < cols { passed[window] } else { C::ZERO };
        for (column, element) in line[window].iter_mut().enumerate() {
            *element = if offsets[window].bits() == first + column as u32 { passed } else { C::ZERO };
        }
    }
}

/// Writes the gradient that ReLU passes to its positions, for windows of two by two, a window in each lane, and zeros
/// elsewhere; returns its sum, whose order depends on the machine's vectors.
///
/// Past the last window, the rest of a vector must be readable, and past the last row, two vectors writable.
struct SpreadFours<'a, C> {
    plane: &'a Plane,
    gradient: &'a [C],
    out: &'a [C],
    /// Which of the four positions each goes to, as found by [`find`].
    offsets: &'a [C],
    part: &'a mut [C],
}

impl<C: Lanes> WithSimd for SpreadFours<'_, C> {
    type Output = C;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> C {
        let Self { plane, gradient, out, offsets, part } = self;
        let ([rows, cols], columns, width) =
            (pooled(plane.output(), [2, 2]), plane.output()[1], plane.width());
        let upper_places = offset_pair::<C, S>(simd, 0);
        let lower_places = offset_pair::<C, S>(simd, columns);
        let (lanes, zero) = (C::lanes::<S>(), C::splat(simd, C::ZERO));
        let vectors = cols.div_ceil(lanes);
        let covered = vectors * lanes;
        // Past a row's last window are those of the next row.
        let in_last = &const { [[C::ONE; MOST_LANES], [C::ZERO; MOST_LANES]] };
        let in_last = vector::<C, S>(in_last.as_flattened(), MOST_LANES - (cols + lanes - covered));
        let is_in_last = C::is_same(simd, in_last, C::splat(simd, C::ONE));
        let mut sum = zero;
        part[rows * 2 * width..].fill(C::ZERO);
        for row in 0..rows {
            let lines = &mut part[2 * row * width..];
            let (gradient, _) = C::vectors::<S>(&gradient[row * cols..][..covered]);
            let (out, _) = C::vectors::<S>(&out[row * cols..][..covered]);
            let (offsets, _) = C::vectors::<S>(&offsets[row * cols..][..covered]);
            let mut sum_of_row = zero;
            // From the last on, so that the zeros that a vector writes past its row are overwritten.
            for number in (0..vectors).rev() {
                let is_stopped = C::is_at_most(simd, out[number], zero);
                let mut passed = C::select(simd, is_stopped, zero, gradient[number]);
                if number == vectors - 1 {
                    passed = C::select(simd, is_in_last, passed, zero);
                }
                sum_of_row = C::add_lanes(simd, sum_of_row, passed);
                let passed = C::in_order(simd, passed);
                let offset = C::in_order(simd, offsets[number]);
                let upper = spread_pairs::<C, S>(simd, passed, offset, upper_places);
                let lower = spread_pairs::<C, S>(simd, passed, offset, lower_places);
                *vector_pair_mut::<C, S>(lines, 2 * number * lanes) = upper;
                *vector_pair_mut::<C, S>(lines, width + 2 * number * lanes) = lower;
            }
            sum = C::add_lanes(simd, sum, sum_of_row);
        }
        let sum = <C as Lanes>::sum(simd, sum);
        // In a loop of its own: a loop with a call would keep its vectors in memory.
        if 2 * covered < width {
            part[..2 * rows * width]
                .chunks_exact_mut(width)
                .for_each(|line| line[2 * covered..].fill(C::ZERO));
        }
        sum
    }
}

/// One row of the elements of windows: the gradient that passes where the offset is that of the position, else 0. Lanes
/// are in the order of [`Lanes::zip`].
#[inline(always)]
fn spread_pairs<C: Lanes, S: Simd>(
    simd: S,
    passed: C::Vector<S>,
    offset: C::Vector<S>,
    [even, odd]: [C::Vector<S>; 2],
) -> [C::Vector<S>; 2] {
    let zero = C::splat(simd, C::ZERO);
    let even = C::select(simd, C::is_same(simd, offset, even), passed, zero);
    let odd = C::select(simd, C::is_same(simd, offset, odd), passed, zero);
    C::zip(simd, [even, odd])
}

/// The two vectors from element number `begin` on.
#[inline(always)]
fn vector_pair_mut<C: Lanes, S: Simd>(elements: &mut [C], begin: usize) -> &mut [C::Vector<S>; 2] {
    let (vectors, _) = C::vectors_mut::<S>(&mut elements[begin..][..2 * C::lanes::<S>()]);
    vectors.try_into().expect("as many as asked for")
}

/// The gradient that ReLU passes, decided by its output: 0 if that is 0 or below.
#[inline(always)]
pub(crate) fn rectified<T: Real, C: Real>(output: T, gradient: C) -> C {
    if output <= T::ZERO { C::ZERO } else { gradient }
}

#[cfg(test)]
mod tests;
