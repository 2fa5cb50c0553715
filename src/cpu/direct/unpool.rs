//! [`Unpool`]: the gradient by the sums, from the gradient by what [`ReluPool`](super::ReluPool) made of them.

use std::ops::Range;

use dahl_core::{Real, simd as loops};
use pulp::{Simd, WithSimd};

use super::gradient::Source;
use super::plane::{Plane, narrow};
use super::relu::{WINDOWS, pooled};
use crate::cpu::conv2d::in_compute;
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
    pub(crate) room: UnpoolRoom<'a, T::Compute>,
}

/// What [`Unpool`] reads and writes in between: for the windows of a channel, of which whole vectors are read.
pub(crate) struct UnpoolRoom<'a, C> {
    /// The places of the windows' first elements: see [`window_places`](super::window_places).
    pub(crate) firsts: &'a [u32],
    /// How far from there the gradient goes.
    pub(crate) offsets: &'a mut [u32],
    /// What a rectifier lets through of it.
    pub(crate) passed: &'a mut [C],
    /// The gradient and the output in the compute type, if they are not; as long as they are then.
    pub(crate) wide: [&'a mut [C]; 2],
}

impl<C> UnpoolRoom<'_, C> {
    /// The lengths of `offsets` and `passed`.
    pub(crate) fn len(windows: usize) -> usize {
        windows + WINDOWS
    }
}

impl<T: Real<Compute: Lanes>> Source<T::Compute> for Unpool<'_, T> {
    #[inline(always)]
    fn fill<S: Simd>(
        &mut self,
        _simd: S,
        plane: &Plane,
        image: usize,
        filters: Range<usize>,
        parts: &mut [T::Compute],
        part_len: usize,
    ) {
        let (channels, len) = (self.by_bias.len(), self.room.firsts.len());
        for (channel, part) in filters.zip(parts.chunks_exact_mut(part_len)) {
            let covered = (image * channels + channel) * len..(image * channels + channel + 1) * len;
            let [wide_gradient, wide_out] = &mut self.room.wide;
            let gradient = in_compute(&self.gradient[covered.clone()], wide_gradient);
            let out = in_compute(&self.out[covered.clone()], wide_out);
            let passed = &mut self.room.passed[..len];
            for ((passed, &gradient), &out) in passed.iter_mut().zip(gradient).zip(out) {
                *passed = rectified(out, gradient);
            }
            self.by_bias[channel] += loops::sum(passed);
            // Windows that are known are written in vectors.
            let index = &self.index[covered];
            let is_written = match self.size {
                [2, 2] => self.room.spread::<2, 2>(plane, index, part),
                [3, 3] => self.room.spread::<3, 3>(plane, index, part),
                _ => false,
            };
            if !is_written {
                self.room.scatter(plane, index, part);
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

impl<C: Lanes> UnpoolRoom<'_, C> {
    /// Writes what passed to its places, for windows of `ROWS` by `COLUMNS`, and zeros elsewhere. Leaves `part` as it is, and
    /// returns false, if one of the places is not in its window, as no pooling makes it.
    #[inline(always)]
    fn spread<const ROWS: usize, const COLUMNS: usize>(
        &mut self,
        plane: &Plane,
        index: &[u32],
        part: &mut [C],
    ) -> bool {
        let ([rows, cols], columns) = (pooled(plane.output(), [ROWS, COLUMNS]), plane.output()[1]);
        let mut outside = 0;
        for ((offset, place), first) in self.offsets.iter_mut().zip(index).zip(self.firsts) {
            *offset = place.wrapping_sub(*first);
            let mut is_inside = false;
            for row in 0..ROWS {
                is_inside |= offset.wrapping_sub((row * columns) as u32) < COLUMNS as u32;
            }
            outside |= u32::from(!is_inside);
        }
        if outside != 0 {
            return false;
        }
        // Whole vectors of windows: those behind the row's end are zeros, which the next row overwrites. Of the last rows they
        // may end before the part does, and less than a window is left.
        let covers_rows = cols.next_multiple_of(WINDOWS) * COLUMNS >= plane.width();
        let covered = if covers_rows { rows * ROWS * plane.width() } else { 0 };
        part[covered.saturating_sub(COLUMNS)..].fill(C::ZERO);
        for row in 0..rows {
            for window_row in 0..ROWS {
                let (line, _) = part[(row * ROWS + window_row) * plane.width()..].as_chunks_mut::<COLUMNS>();
                let first = (window_row * columns) as u32;
                let windows = cols.next_multiple_of(WINDOWS).min(line.len());
                let passed = &self.passed[row * cols..][..windows];
                let offsets = &self.offsets[row * cols..][..windows];
                spread_row(&mut line[..windows], passed, offsets, cols, first);
            }
        }
        true
    }

    /// [`spread`](Self::spread) for windows of any size, and any places.
    fn scatter(&self, plane: &Plane, index: &[u32], part: &mut [C]) {
        part.fill(C::ZERO);
        let (columns, width) = (plane.output()[1], plane.width());
        for (&passed, &place) in self.passed.iter().zip(index) {
            let place = place as usize;
            part[place / columns * width + place % columns] = passed;
        }
    }
}

/// Writes one row of the elements of windows: that at its window's offset gets what passed, the others 0. The first of the row
/// has the offset `first`, and windows from number `cols` on are none.
#[inline(always)]
fn spread_row<C: Real, const COLUMNS: usize>(
    line: &mut [[C; COLUMNS]],
    passed: &[C],
    offsets: &[u32],
    cols: usize,
    first: u32,
) {
    let cols = cols as u32;
    for window in 0..line.len() {
        let passed = if (window as u32) < cols { passed[window] } else { C::ZERO };
        for (column, element) in line[window].iter_mut().enumerate() {
            *element = if offsets[window] == first + column as u32 { passed } else { C::ZERO };
        }
    }
}

/// What a rectifier lets through of a gradient, by its output: nothing if that is 0 or below.
#[inline(always)]
pub(crate) fn rectified<T: Real, C: Real>(output: T, gradient: C) -> C {
    if output <= T::ZERO { C::ZERO } else { gradient }
}

#[cfg(test)]
mod tests {
    use super::super::pairs::POSITIONS;
    use super::super::window_places;
    use super::*;

    /// Checks both ways to write a part, from memory that holds anything.
    fn check<C: Lanes, const ROWS: usize, const COLUMNS: usize>(output: [usize; 2], kernel: usize) {
        let plane =
            Plane { image: output.map(|extent| extent + kernel - 1), kernel: [kernel; 2], padding: [0, 0] };
        let [rows, cols] = pooled(output, [ROWS, COLUMNS]);
        let len = UnpoolRoom::<C>::len(rows * cols);
        let mut firsts = vec![0; rows * cols];
        window_places(output, [ROWS, COLUMNS], &mut firsts);
        let place = |(window, first): (usize, &u32)| {
            first + (window % ROWS * output[1] + window / ROWS % COLUMNS) as u32
        };
        let mut index: Vec<u32> = firsts.iter().enumerate().map(place).collect();
        let mut offsets = vec![1; len];
        let mut passed = vec![C::NAN; len];
        for (window, passed) in passed[..rows * cols].iter_mut().enumerate() {
            *passed = C::from_f64(window as f64 + 1.0);
        }
        let mut room = UnpoolRoom {
            firsts: &firsts,
            offsets: &mut offsets,
            passed: &mut passed,
            wide: [&mut [], &mut []],
        };
        for part_len in [plane.positions(), plane.positions().next_multiple_of(POSITIONS)] {
            let mut expected = vec![C::ZERO; part_len];
            for (window, place) in index.iter().enumerate() {
                let place = *place as usize;
                expected[place / output[1] * plane.width() + place % output[1]] = room.passed[window];
            }
            let mut part = vec![C::NAN; part_len];
            assert!(room.spread::<ROWS, COLUMNS>(&plane, &index, &mut part));
            assert!(part == expected, "{output:?} by {kernel}: {part:?}");
            part.fill(C::NAN);
            room.scatter(&plane, &index, &mut part);
            assert!(part == expected, "{output:?} by {kernel}: {part:?}");
        }
        if rows * cols > 1 {
            // In the window beside it, or below.
            index[0] = firsts[1];
            let mut part = vec![C::NAN; plane.positions()];
            assert!(!room.spread::<ROWS, COLUMNS>(&plane, &index, &mut part));
            assert!(part.iter().all(|element| element.is_nan()));
        }
    }

    #[test]
    fn every_element_of_a_part_is_written_whatever_its_shape() {
        for rows in 2..8 {
            for columns in 2..70 {
                for kernel in 1..6 {
                    check::<f32, 2, 2>([rows, columns], kernel);
                    check::<f64, 2, 2>([rows, columns], kernel);
                    if rows > 2 && columns > 2 {
                        check::<f32, 3, 3>([rows, columns], kernel);
                        check::<f64, 3, 3>([rows, columns], kernel);
                    }
                }
            }
        }
    }
}
