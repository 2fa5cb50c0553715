//! [`Plane`]: an image with its border, in the layout that the kernels read. [`Channels`]: where planes are in a batch.

use std::ops::Range;

use dahl_core::{Element, Real};
use pulp::Simd;

use crate::cpu::compute::computes_in_itself;
use crate::cpu::lanes::{self, Lanes};

/// A channel of an image with its border of zeros, over which a kernel moves with stride 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plane {
    /// Rows and columns of the image.
    pub(crate) image: [usize; 2],
    /// Rows and columns of the kernel.
    pub(crate) kernel: [usize; 2],
    /// The distance of the kernel's rows in the image, and of its columns: 1 without a dilation.
    pub(crate) dilation: [usize; 2],
    /// Zeros around the image: above and below, left and right.
    pub(crate) padding: [usize; 2],
}

impl Plane {
    /// That of an image without a border: each element is a position.
    pub(super) fn borderless(image: [usize; 2]) -> Self {
        Self { image, kernel: [1, 1], dilation: [1, 1], padding: [0, 0] }
    }

    /// That of an image without a border whose rows have an even number of positions: a row of odd length gets one
    /// more, outside the output.
    pub(super) fn of_even_rows([rows, columns]: [usize; 2]) -> Self {
        let even = columns.next_multiple_of(2);
        Self { image: [rows, even], kernel: [1, 1 + even - columns], dilation: [1, 1], padding: [0, 0] }
    }

    /// The plane of the gradient by the input: its output is the image, with a padding of the kernel's [span](Self::span).
    /// None if the padding of this one is larger than that.
    pub(crate) fn reversed(&self) -> Option<Self> {
        let padding = |axis: usize| self.span()[axis].checked_sub(self.padding[axis]);
        Some(Self { image: self.output(), padding: [padding(0)?, padding(1)?], ..*self })
    }

    /// The distance from the first row of the kernel to the last one, and of its columns.
    pub(super) fn span(&self) -> [usize; 2] {
        [0, 1].map(|axis| (self.kernel[axis] - 1) * self.dilation[axis])
    }

    /// Elements of a row, with its border.
    pub(super) fn width(&self) -> usize {
        self.image[1] + 2 * self.padding[1]
    }

    /// Elements of the plane.
    pub(super) fn len(&self) -> usize {
        self.width() * (self.image[0] + 2 * self.padding[0])
    }

    /// Rows and columns of the output.
    pub(crate) fn output(&self) -> [usize; 2] {
        [0, 1].map(|axis| self.image[axis] + 2 * self.padding[axis] - self.span()[axis])
    }

    /// Positions: those of the output, and those between its rows.
    pub(super) fn positions(&self) -> usize {
        self.output()[0] * self.width()
    }

    /// Elements of the output.
    pub(super) fn outputs(&self) -> usize {
        self.output().iter().product()
    }

    /// How the outputs of so many channels lie in a batch.
    pub(super) fn channels(&self, count: usize) -> Channels {
        Channels { count, len: self.outputs() }
    }

    /// Whether row number `row` of the plane is in the image, not in its border.
    pub(super) fn is_within(&self, row: usize) -> bool {
        (self.padding[0]..self.padding[0] + self.image[0]).contains(&row)
    }

    /// Rows of the kernel that overlap the image at any of `count` positions from number `first` on. The others overlap
    /// its border.
    pub(super) fn rows_within(&self, first: usize, count: usize) -> Range<usize> {
        let (first_row, last_row) = (first / self.width(), (first + count - 1) / self.width());
        let (image_begin, image_end) = (self.padding[0], self.padding[0] + self.image[0]);
        let [end, begin] = [image_end.saturating_sub(first_row), image_begin.saturating_sub(last_row)]
            .map(|rows| rows.div_ceil(self.dilation[0]));
        let end = self.kernel[0].min(end);
        begin.min(end)..end
    }

    /// Elements of the image among `count` positions of one row from number `first` on: the others are its border.
    pub(super) fn columns_within(&self, first: usize, count: usize) -> Range<usize> {
        let (column, width) = (first % self.width(), self.width());
        if column + count > width {
            return 0..count;
        }
        let (begin, end) = (self.padding[1], self.padding[1] + self.image[1]);
        begin.saturating_sub(column).min(count)..end.saturating_sub(column).min(count)
    }

    /// Elements of the kernel.
    pub(super) fn taps(&self) -> usize {
        self.kernel[0] * self.kernel[1]
    }

    /// The distance from a position to the element that a tap multiplies.
    pub(super) fn offset(&self, tap: usize) -> usize {
        tap / self.kernel[1] * self.row_step() + tap % self.kernel[1] * self.dilation[1]
    }

    /// The distance of the elements that two neighbouring rows of the kernel multiply.
    pub(super) fn row_step(&self) -> usize {
        self.dilation[0] * self.width()
    }

    /// Elements of `channels` planes, if up to `beyond` positions past the last one may be read.
    pub(super) fn buffer_len(&self, channels: usize, beyond: usize) -> usize {
        channels * self.len() + self.span()[1] + 1 + beyond
    }

    /// The planes of the first image, `len` elements, in place: if it is in the compute type and has no border. The
    /// next image follows it in memory.
    pub(super) fn unpacked<'i, T: Real>(&self, images: &'i [T], len: usize) -> Option<&'i [T::Compute]> {
        let is_plane = computes_in_itself::<T>() && self.padding == [0, 0];
        images.get(..len).filter(|_| is_plane).map(bytemuck::cast_slice)
    }

    /// Copies an image into planes, one for each channel. Their borders are zero from the beginning.
    #[inline(always)]
    pub(super) fn border<T: Real<Compute: Lanes>, S: Simd>(
        &self,
        simd: S,
        image: &[T],
        planes: &mut [T::Compute],
    ) {
        let ([rows, columns], [above, left], width) = (self.image, self.padding, self.width());
        if self.padding == [0, 0] {
            return widen(simd, image, &mut planes[..image.len()]);
        }
        for (image, plane) in image.chunks_exact(rows * columns).zip(planes.chunks_exact_mut(self.len())) {
            let lines = plane[above * width..].chunks_exact_mut(width);
            for (line, row) in lines.zip(image.chunks_exact(columns)) {
                widen(simd, row, &mut line[left..][..columns]);
            }
        }
    }

    /// Copies an output, channel by channel, to positions: zeros between its rows, and in the rest of each of `parts`.
    #[inline(always)]
    pub(super) fn spread<T: Real<Compute: Lanes>, S: Simd>(
        &self,
        simd: S,
        output: &[T],
        parts: &mut [T::Compute],
        part_len: usize,
    ) {
        let ([rows, columns], width) = (self.output(), self.width());
        for (output, part) in output.chunks_exact(rows * columns).zip(parts.chunks_exact_mut(part_len)) {
            let (lines, rest) = part.split_at_mut(rows * width);
            for (line, row) in lines.chunks_exact_mut(width).zip(output.chunks_exact(columns)) {
                let (line, between) = line.split_at_mut(columns);
                widen(simd, row, line);
                between.fill(T::Compute::ZERO);
            }
            rest.fill(T::Compute::ZERO);
        }
    }

    /// Copies the sums of one channel of an output from their positions. Overwrites the sums.
    #[inline(always)]
    pub(super) fn gather<T: Real<Compute: Lanes>, S: Simd>(
        &self,
        simd: S,
        sums: &mut [T::Compute],
        output: &mut [T],
    ) {
        let [_, columns] = self.output();
        if computes_in_itself::<T>() {
            for (row, line) in output.chunks_exact_mut(columns).zip(sums.chunks_exact(self.width())) {
                narrow(simd, &line[..columns], row);
            }
        } else {
            // Rows are short, so all of them are converted together.
            self.close_rows(sums);
            narrow(simd, &sums[..output.len()], output);
        }
    }

    /// Moves the rows of an output from their positions together, without gaps.
    #[inline(always)]
    fn close_rows<C: Element>(&self, sums: &mut [C]) {
        let ([rows, columns], width) = (self.output(), self.width());
        if width == columns {
            return;
        }
        for row in 1..rows {
            sums.copy_within(row * width..row * width + columns, row * columns);
        }
    }
}

/// How the planes of a batch lie in memory: `[batch, count, len]`.
#[derive(Clone, Copy)]
pub(super) struct Channels {
    /// Of an image.
    pub(super) count: usize,
    /// Elements of each.
    pub(super) len: usize,
}

impl Channels {
    /// These channels of an image, of `all` images.
    pub(super) fn of<T>(self, all: &[T], image: usize, channels: Range<usize>) -> &[T] {
        &all[self.range(image, channels)]
    }

    /// One channel of an image, to be written.
    pub(super) fn of_mut<T>(self, all: &mut [T], image: usize, channel: usize) -> &mut [T] {
        &mut all[self.range(image, channel..channel + 1)]
    }

    fn range(self, image: usize, channels: Range<usize>) -> Range<usize> {
        let first = image * self.count;
        (first + channels.start) * self.len..(first + channels.end) * self.len
    }
}

#[inline(always)]
pub(super) fn widen<T: Real<Compute: Lanes>, S: Simd>(simd: S, from: &[T], to: &mut [T::Compute]) {
    if computes_in_itself::<T>() {
        lanes::copy(simd, bytemuck::cast_slice(from), to);
    } else {
        T::widen_slice(from, to);
    }
}

#[inline(always)]
pub(super) fn narrow<T: Real<Compute: Lanes>, S: Simd>(simd: S, from: &[T::Compute], to: &mut [T]) {
    if computes_in_itself::<T>() {
        lanes::copy(simd, from, bytemuck::cast_slice_mut(to));
    } else {
        T::narrow_slice(from, to);
    }
}
