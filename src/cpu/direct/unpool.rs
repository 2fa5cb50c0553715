//! [`Unpool`]: the gradient by the sums, from the gradient by what [`ReluPool`](super::ReluPool) made of them.

use std::ops::Range;

use dahl_core::{Element, Real, simd as loops};
use pulp::{Simd, WithSimd};

use super::gradient::Source;
use super::plane::{Plane, narrow, widen};
use super::relu::{WINDOWS, pooled};
use crate::cpu::lanes::{Lanes, in_vectors};
use crate::cpu::scratch::with_scratch;

/// Each element of `gradient` goes to the place of its window's largest sum, if that was above 0 (or NaN, as in
/// [`relu_backward`](crate::ops::relu_backward)); all other sums get 0. What goes anywhere is added up for each channel.
pub(crate) struct Unpool<'a, T: Real> {
    pub(crate) gradient: &'a [T],
    /// What was left of the sums.
    pub(crate) out: &'a [T],
    pub(crate) index: &'a [u32],
    /// The window.
    pub(crate) size: [usize; 2],
    /// The gradient by the bias, to which the sums of the channels are added.
    pub(crate) by_bias: &'a mut [T::Compute],
    /// [`Unpool::room`] long.
    pub(crate) passed: &'a mut [T::Compute],
    /// As long.
    pub(crate) outputs: &'a mut [T::Compute],
    /// As long.
    pub(crate) places: &'a mut [u32],
}

impl<T: Real> Unpool<'_, T> {
    /// The room for a channel of the pooled output, of which whole vectors of windows are read.
    pub(crate) fn room(pooled_len: usize) -> usize {
        pooled_len + WINDOWS
    }
}

impl<T: Real<Compute: Lanes>> Source<T::Compute> for Unpool<'_, T> {
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
        let channels = self.by_bias.len();
        let len = pooled(plane.output(), self.size).iter().product();
        for (channel, part) in filters.zip(parts.chunks_exact_mut(part_len)) {
            let covered = (image * channels + channel) * len..(image * channels + channel + 1) * len;
            widen(simd, &self.gradient[covered.clone()], &mut self.passed[..len]);
            widen(simd, &self.out[covered.clone()], &mut self.outputs[..len]);
            for (gradient, &output) in self.passed[..len].iter_mut().zip(&*self.outputs) {
                *gradient = rectified(output, *gradient);
            }
            self.places[..len].copy_from_slice(&self.index[covered]);
            self.by_bias[channel] += loops::sum(&self.passed[..len]);
            part.fill(T::Compute::ZERO);
            // Windows that are known are written in vectors.
            match self.size {
                [2, 2] => self.spread::<2, 2>(plane, part),
                [3, 3] => self.spread::<3, 3>(plane, part),
                _ => self.scatter(len, plane, part),
            }
        }
    }
}

/// Writes what `source` gives for each plane of `output` rows and columns.
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
            let len = self.part.len();
            for (number, out) in self.out.chunks_exact_mut(len).enumerate() {
                self.source.fill(simd, &self.plane, 0, number..number + 1, self.part, len);
                narrow(simd, self.part, out);
            }
        }
    }
    // Without a border, and by a kernel of one element: positions are those of the output.
    let plane = Plane { image: output, kernel: [1, 1], padding: [0, 0] };
    with_scratch([plane.positions()], |[part]: [&mut [T::Compute]; 1]| {
        in_vectors(Planes { plane, source, part, out });
    });
}

impl<T: Real<Compute: Lanes>> Unpool<'_, T> {
    /// Writes what passed to its places, for windows of `ROWS` by `COLUMNS`.
    #[inline(always)]
    fn spread<const ROWS: usize, const COLUMNS: usize>(&self, plane: &Plane, part: &mut [T::Compute]) {
        let ([rows, cols], columns) = (pooled(plane.output(), self.size), plane.output()[1]);
        // Whole vectors of windows: behind the row's end they are zeros, which the next row overwrites.
        let windows = cols.next_multiple_of(WINDOWS);
        let mut outside = 0;
        for row in 0..rows {
            let passed = &self.passed[row * cols..][..windows];
            let places = &self.places[row * cols..][..windows];
            outside |= places_outside::<ROWS, COLUMNS>(places, cols, row * ROWS * columns, columns);
            for window_row in 0..ROWS {
                let first = (row * ROWS + window_row) * columns;
                let (line, _) = part[(row * ROWS + window_row) * plane.width()..].as_chunks_mut::<COLUMNS>();
                let windows = windows.min(line.len());
                spread_row(&mut line[..windows], &passed[..windows], &places[..windows], cols, first as u32);
            }
        }
        if outside != 0 {
            part.fill(T::Compute::ZERO);
            self.scatter(rows * cols, plane, part);
        }
    }

    /// [`spread`](Self::spread) for windows of any size.
    fn scatter(&self, len: usize, plane: &Plane, part: &mut [T::Compute]) {
        let (columns, width) = (plane.output()[1], plane.width());
        for (&passed, &place) in self.passed.iter().zip(&*self.places).take(len) {
            let place = place as usize;
            part[place / columns * width + place % columns] = passed;
        }
    }
}

/// Not 0 if the place of one of `cols` windows is not in it, as no pooling makes it. The first window begins at place
/// `first`, and a row of the plane has so many columns.
#[inline(always)]
fn places_outside<const ROWS: usize, const COLUMNS: usize>(
    places: &[u32],
    cols: usize,
    first: usize,
    columns: usize,
) -> u32 {
    let (cols, first, columns, step) = (cols as u32, first as u32, columns as u32, COLUMNS as u32);
    let mut outside = 0;
    for (window, &place) in places.iter().enumerate() {
        let at = place.wrapping_sub(first + window as u32 * step);
        let mut is_inside = window as u32 >= cols;
        for row in 0..ROWS {
            is_inside |= at.wrapping_sub(row as u32 * columns) < step;
        }
        outside |= u32::from(!is_inside);
    }
    outside
}

/// Writes one row of the elements of windows: that at its window's place gets what passed, the others 0. The first has the
/// place `first`, and windows from number `cols` on are none.
#[inline(always)]
fn spread_row<C: Real, const COLUMNS: usize>(
    line: &mut [[C; COLUMNS]],
    passed: &[C],
    places: &[u32],
    cols: usize,
    first: u32,
) {
    let (cols, step) = (cols as u32, COLUMNS as u32);
    for window in 0..line.len() {
        let passed = if (window as u32) < cols { passed[window] } else { C::ZERO };
        let at = places[window].wrapping_sub(first + window as u32 * step);
        for (column, element) in line[window].iter_mut().enumerate() {
            *element = if at == column as u32 { passed } else { C::ZERO };
        }
    }
}

/// What a rectifier lets through of a gradient, by its output: nothing if that is 0 or below.
#[inline(always)]
pub(crate) fn rectified<T: Real, C: Real>(output: T, gradient: C) -> C {
    if output <= T::ZERO { C::ZERO } else { gradient }
}
