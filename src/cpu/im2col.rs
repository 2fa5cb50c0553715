//! [`Window`]: a kernel that slides over an image. Its patches become the columns of a matrix ([`pack`]), and go back
//! ([`unpack_add`]).
//!
//! Packing turns a convolution into a matrix product (Chellapilla, Puri and Simard 2006, *High Performance
//! Convolutional Neural Networks for Document Processing*, section 3). It takes a few output rows at a time and writes
//! padding into the patches, so no padded copy of the image is needed.

use std::ops::Range;

use dahl_core::{Element, Real};

/// How a kernel of some extents moves over the rows and columns of an image.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    /// Rows and columns of the image.
    pub(crate) image: [usize; 2],
    /// Rows and columns of the kernel.
    pub(crate) kernel: [usize; 2],
    /// The stride of the kernel, down and to the right.
    pub(crate) stride: [usize; 2],
    /// Zeros around the image: above and below, left and right.
    pub(crate) padding: [usize; 2],
}

impl Window {
    /// Rows and columns of positions of the kernel.
    pub(crate) fn positions(&self) -> [usize; 2] {
        [0, 1]
            .map(|axis| positions(self.image[axis], self.kernel[axis], self.stride[axis], self.padding[axis]))
    }

    /// Whether every patch is one pixel, so that the patches are the image itself.
    pub(crate) fn is_pointwise(&self) -> bool {
        self.kernel == [1, 1] && self.stride == [1, 1] && self.padding == [0, 0]
    }

    /// Elements of a patch of an image of `channels`.
    pub(crate) fn patch_len(&self, channels: usize) -> usize {
        channels * self.kernel[0] * self.kernel[1]
    }

    /// The row or column of the image (`axis` 0 or 1) under kernel element `tap` at `position`, unless it is padding.
    #[inline(always)]
    pub(crate) fn source(&self, axis: usize, position: usize, tap: usize) -> Option<usize> {
        (position * self.stride[axis] + tap)
            .checked_sub(self.padding[axis])
            .filter(|&source| source < self.image[axis])
    }

    /// The positions along `axis` at which kernel element `tap` lies on the image.
    #[inline(always)]
    pub(crate) fn inside(&self, axis: usize, tap: usize, positions: usize) -> Range<usize> {
        let (stride, padding) = (self.stride[axis], self.padding[axis]);
        let first = padding.saturating_sub(tap).div_ceil(stride).min(positions);
        let end = (self.image[axis] + padding).saturating_sub(tap).div_ceil(stride).min(positions);
        first..end.max(first)
    }
}

/// Calls `f(to, from, index)` for each element of `to` with every `stride`-th element of `from`.
#[inline(always)]
pub(crate) fn for_each_strided<T, U>(
    to: &mut [T],
    from: &[U],
    stride: usize,
    mut f: impl FnMut(&mut T, &U, usize),
) {
    // The loop vectorises if the stride is a constant.
    match stride {
        1 => to.iter_mut().zip(from).enumerate().for_each(|(index, (to, from))| f(to, from, index)),
        2 => {
            let (pairs, _) = from.as_chunks::<2>();
            let (to, last) = to.split_at_mut(pairs.len().min(to.len()));
            to.iter_mut().zip(pairs).enumerate().for_each(|(index, (to, from))| f(to, &from[0], index));
            // The last position may have no element after it.
            last.iter_mut().zip(from.last()).for_each(|(last, from)| f(last, from, to.len()));
        }
        _ => to
            .iter_mut()
            .zip(from.iter().step_by(stride))
            .enumerate()
            .for_each(|(index, (to, from))| f(to, from, index)),
    }
}

/// The result of [`Window::column_taps`] for a kernel column: the positions `start..end` at which it lies on the image,
/// and the image column `first` under it at `start`.
pub(crate) type ColumnTap = [usize; 3];

impl Window {
    /// Computes each kernel column's [`ColumnTap`], once because that takes divisions.
    pub(crate) fn column_taps(&self, taps: &mut [ColumnTap]) {
        let columns = self.positions()[1];
        for (tap, [start, end, first]) in taps.iter_mut().enumerate() {
            let inside = self.inside(1, tap, columns);
            [*start, *end] = [inside.start, inside.end];
            *first =
                if inside.is_empty() { 0 } else { inside.start * self.stride[1] + tap - self.padding[1] };
        }
    }
}

/// The number of positions of a kernel along one axis: `(extent + 2 padding - kernel) / stride + 1`, rounded down; 0 if
/// it does not fit, or if the padded extent overflows.
pub(crate) fn positions(extent: usize, kernel: usize, stride: usize, padding: usize) -> usize {
    let padded = padding.checked_mul(2).and_then(|padding| padding.checked_add(extent));
    match padded.and_then(|padded| padded.checked_sub(kernel)) {
        Some(beyond) if stride > 0 && kernel > 0 => beyond / stride + 1,
        _ => 0,
    }
}

/// Writes the patches of the output rows `rows` as columns of a matrix, widened.
///
/// # Shapes
/// `image: [channels, image rows, image cols]`, `patches: [channels * kernel rows * kernel cols, rows * output cols]`.
pub(crate) fn pack<T: Real>(
    window: &Window,
    channels: usize,
    image: &[T],
    rows: Range<usize>,
    patches: &mut [T::Compute],
) {
    let columns = window.positions()[1];
    let [image_rows, image_cols] = window.image;
    assert_eq!(image.len(), channels * image_rows * image_cols);
    assert_eq!(patches.len(), window.patch_len(channels) * rows.len() * columns);
    let mut lines = patches.chunks_exact_mut(columns.max(1));
    for channel in 0..channels {
        let plane = &image[channel * image_rows * image_cols..][..image_rows * image_cols];
        for row_tap in 0..window.kernel[0] {
            for col_tap in 0..window.kernel[1] {
                let inside = window.inside(1, col_tap, columns);
                for row in rows.clone() {
                    let Some(line) = lines.next() else { return };
                    match window.source(0, row, row_tap) {
                        Some(source) if !inside.is_empty() => {
                            let first = inside.start * window.stride[1] + col_tap - window.padding[1];
                            let from = &plane[source * image_cols..][..image_cols][first..];
                            line[..inside.start].fill(T::Compute::ZERO);
                            line[inside.end..].fill(T::Compute::ZERO);
                            let to = &mut line[inside.clone()];
                            if window.stride[1] == 1 {
                                T::widen_slice(&from[..to.len()], to);
                            } else {
                                for (to, from) in to.iter_mut().zip(from.iter().step_by(window.stride[1])) {
                                    *to = from.widen();
                                }
                            }
                        }
                        _ => line.fill(T::Compute::ZERO),
                    }
                }
            }
        }
    }
}

/// Adds each element of the patches to the pixel that [`pack`] copies it from.
///
/// # Shapes
/// As for [`pack`].
#[inline(always)]
pub(crate) fn unpack_add<T: Real>(
    window: &Window,
    channels: usize,
    patches: &[T],
    rows: Range<usize>,
    image: &mut [T],
) {
    let columns = window.positions()[1];
    let [image_rows, image_cols] = window.image;
    assert_eq!(image.len(), channels * image_rows * image_cols);
    assert_eq!(patches.len(), window.patch_len(channels) * rows.len() * columns);
    let mut lines = patches.chunks_exact(columns.max(1));
    for channel in 0..channels {
        let plane = &mut image[channel * image_rows * image_cols..][..image_rows * image_cols];
        for row_tap in 0..window.kernel[0] {
            for col_tap in 0..window.kernel[1] {
                let inside = window.inside(1, col_tap, columns);
                for row in rows.clone() {
                    let Some(line) = lines.next() else { return };
                    let Some(source) = window.source(0, row, row_tap) else { continue };
                    if inside.is_empty() {
                        continue;
                    }
                    let first = inside.start * window.stride[1] + col_tap - window.padding[1];
                    let to = &mut plane[source * image_cols..][..image_cols][first..];
                    let from = &line[inside.clone()];
                    if window.stride[1] == 1 {
                        for (to, from) in to.iter_mut().zip(from) {
                            *to += *from;
                        }
                    } else {
                        for (to, from) in to.iter_mut().step_by(window.stride[1]).zip(from) {
                            *to += *from;
                        }
                    }
                }
            }
        }
    }
}
