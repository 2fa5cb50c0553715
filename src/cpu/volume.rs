//! [`Volume`]: a kernel that slides over one to three spatial axes, with stride, padding and dilation. Its patches
//! become the columns of a matrix ([`pack`]), and go back ([`unpack_add`]), as those of [`im2col`](super::im2col).
//!
//! Fewer than three axes are preceded by axes of extent 1. Innermost axes make the *lines* of an array.

use std::ops::Range;

use dahl_core::{Element, Real};

/// How a kernel moves along one axis.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slide {
    pub(crate) extent: usize,
    pub(crate) kernel: usize,
    pub(crate) stride: usize,
    pub(crate) padding: usize,
    pub(crate) dilation: usize,
}

impl Slide {
    /// Along an axis of extent 1.
    pub(crate) const ONE: Self = Self { extent: 1, kernel: 1, stride: 1, padding: 0, dilation: 1 };

    /// The number of positions of the kernel; 0 if it does not fit, or if extents overflow.
    pub(crate) fn positions(&self) -> usize {
        let span = || self.dilation.checked_mul(self.kernel.checked_sub(1)?)?.checked_add(1);
        let padded = || self.padding.checked_mul(2)?.checked_add(self.extent);
        match (span(), padded()) {
            (Some(span), Some(padded)) if span <= padded && self.stride > 0 && self.dilation > 0 => {
                (padded - span) / self.stride + 1
            }
            _ => 0,
        }
    }

    /// The index under kernel element `tap` at `position`, unless it is padding.
    #[inline(always)]
    pub(crate) fn source(&self, position: usize, tap: usize) -> Option<usize> {
        let place = position * self.stride + tap * self.dilation;
        place.checked_sub(self.padding).filter(|&source| source < self.extent)
    }

    /// Those of `positions` at which kernel element `tap` is not on padding.
    #[inline(always)]
    pub(crate) fn inside(&self, tap: usize, positions: Range<usize>) -> Range<usize> {
        self.inside_from(tap * self.dilation, positions)
    }

    /// Those of `positions` at which element `place` of the kernel's span is not on padding.
    #[inline(always)]
    pub(crate) fn inside_from(&self, place: usize, positions: Range<usize>) -> Range<usize> {
        let first = self.padding.saturating_sub(place).div_ceil(self.stride);
        let end = (self.extent + self.padding).saturating_sub(place).div_ceil(self.stride);
        let first = first.clamp(positions.start, positions.end);
        first..end.clamp(first, positions.end)
    }
}

/// How a kernel moves over a volume.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Volume(pub(crate) [Slide; 3]);

/// A part of a line of positions: its first two coordinates, and a range of the third.
pub(crate) type Segment = ([usize; 2], Range<usize>);

impl Volume {
    /// Over at most three axes.
    pub(crate) fn new(axes: impl ExactSizeIterator<Item = Slide>) -> Self {
        let mut slides = [Slide::ONE; 3];
        let leading = 3 - axes.len();
        slides[leading..].iter_mut().zip(axes).for_each(|(slide, axis)| *slide = axis);
        Self(slides)
    }

    /// The number of elements that the kernel moves over.
    pub(crate) fn len(&self) -> usize {
        self.0.iter().map(|axis| axis.extent).product()
    }

    /// The number of positions of the kernel.
    pub(crate) fn positions(&self) -> usize {
        self.0.iter().map(Slide::positions).product()
    }

    /// The number of elements of the kernel.
    pub(crate) fn taps(&self) -> usize {
        self.0.iter().map(|axis| axis.kernel).product()
    }

    /// The elements of the kernel, in order.
    pub(crate) fn each_tap(&self) -> impl Iterator<Item = [usize; 3]> + use<> {
        let [depth, rows, cols] = self.0.map(|axis| axis.kernel);
        (0..depth).flat_map(move |z| (0..rows).flat_map(move |y| (0..cols).map(move |x| [z, y, x])))
    }

    /// The parts of lines that a range of positions consists of.
    pub(crate) fn segments(&self, positions: Range<usize>) -> impl Iterator<Item = Segment> + use<> {
        let [_, rows, cols] = self.0.map(|axis| axis.positions());
        let lines = positions.start / cols..positions.end.div_ceil(cols);
        lines.map(move |line| {
            let (start, end) = (line * cols, (line + 1) * cols);
            ([line / rows, line % rows], positions.start.max(start) - start..positions.end.min(end) - start)
        })
    }

    /// The line of `volume` under the first two coordinates of a tap, unless it is padding.
    #[inline(always)]
    pub(crate) fn line(&self, [z, y]: [usize; 2], [tap_z, tap_y, _]: [usize; 3]) -> Option<Range<usize>> {
        let [depth, rows, cols] = &self.0;
        let line = depth.source(z, tap_z)? * rows.extent + rows.source(y, tap_y)?;
        Some(line * cols.extent..(line + 1) * cols.extent)
    }

    /// The lines of positions: their first two coordinates.
    pub(crate) fn lines(&self) -> impl Iterator<Item = [usize; 2]> + use<> {
        let [depth, rows, _] = self.0.map(|axis| axis.positions());
        (0..depth).flat_map(move |z| (0..rows).map(move |y| [z, y]))
    }

    /// The columns of a tap. This takes divisions.
    #[inline(always)]
    pub(crate) fn columns(&self, [_, _, tap]: [usize; 3]) -> Columns {
        let axis = &self.0[2];
        let inside = axis.inside(tap, 0..axis.positions());
        let first = (inside.start * axis.stride + tap * axis.dilation).saturating_sub(axis.padding);
        [inside.start, inside.end, first]
    }
}

/// The positions `start..end` of a line at which a tap is not on padding, and the index under it at the first of them.
pub(crate) type Columns = [usize; 3];

/// Those of `covered` that are among the columns of a tap, and the index under it at the first of them; none if there
/// is no such position.
#[inline(always)]
fn among(
    [start, end, first]: Columns,
    stride: usize,
    covered: &Range<usize>,
) -> Option<(Range<usize>, usize)> {
    let inside = start.max(covered.start)..end.min(covered.end);
    (!inside.is_empty()).then(|| (inside.clone(), first + (inside.start - start) * stride))
}

/// Writes the patches of a range of positions as columns of a matrix, widened.
///
/// # Shapes
/// `channels: [channels, volume]`, `patches: [channels * taps, positions]`.
pub(crate) fn pack<T: Real>(
    volume: &Volume,
    channels: &[T],
    positions: Range<usize>,
    patches: &mut [T::Compute],
) {
    let stride = volume.0[2].stride;
    let mut rows = patches.chunks_exact_mut(positions.len());
    for channel in channels.chunks_exact(volume.len()) {
        for (tap, mut row) in volume.each_tap().zip(&mut rows) {
            let of_tap = volume.columns(tap);
            for (line, columns) in volume.segments(positions.clone()) {
                let (to, after) = row.split_at_mut(columns.len());
                row = after;
                let first = columns.start;
                let found = volume.line(line, tap).zip(among(of_tap, stride, &columns));
                let Some((line, (inside, source))) = found else {
                    to.fill(T::Compute::ZERO);
                    continue;
                };
                let inside = inside.start - first..inside.end - first;
                to[..inside.start].fill(T::Compute::ZERO);
                to[inside.end..].fill(T::Compute::ZERO);
                let (to, from) = (&mut to[inside], &channel[line][source..]);
                if stride == 1 {
                    T::widen_slice(&from[..to.len()], to);
                } else {
                    to.iter_mut().zip(from.iter().step_by(stride)).for_each(|(to, from)| *to = from.widen());
                }
            }
        }
    }
}

/// Adds each element of the patches to the one that [`pack`] copies it from.
///
/// # Shapes
/// As for [`pack`].
#[inline(always)]
pub(crate) fn unpack_add<C: Real>(
    volume: &Volume,
    patches: &[C],
    positions: Range<usize>,
    channels: &mut [C],
) {
    let stride = volume.0[2].stride;
    let mut rows = patches.chunks_exact(positions.len());
    for channel in channels.chunks_exact_mut(volume.len()) {
        for (tap, mut row) in volume.each_tap().zip(&mut rows) {
            let of_tap = volume.columns(tap);
            for (line, columns) in volume.segments(positions.clone()) {
                let (from, after) = row.split_at(columns.len());
                row = after;
                let first = columns.start;
                let Some((line, (inside, source))) =
                    volume.line(line, tap).zip(among(of_tap, stride, &columns))
                else {
                    continue;
                };
                let from = &from[inside.start - first..inside.end - first];
                add_to_strided(&mut channel[line][source..], stride, from, |from| from);
            }
        }
    }
}

/// `to[i * stride] += f(from[i])`.
#[inline(always)]
pub(crate) fn add_to_strided<C: Real, T: Copy>(to: &mut [C], stride: usize, from: &[T], f: impl Fn(T) -> C) {
    if stride == 1 {
        to.iter_mut().zip(from).for_each(|(to, &from)| *to += f(from));
    } else {
        to.iter_mut().step_by(stride).zip(from).for_each(|(to, &from)| *to += f(from));
    }
}
