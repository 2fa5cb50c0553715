//! Convolution of a batch of images and its gradients, by matrix products on packed patches.
//!
//! With `patches` of `[channels * kernel rows * kernel cols, positions]` for each image ([`im2col`](super::im2col)):
//!
//! * [`forward`]: `out = filters x patches`,
//! * [`backward_filters`]: `filters_gradient += gradient x patches^T`,
//! * [`backward_input`]: `patches_gradient = filters^T x gradient`, added back to the pixels they came from.
//!
//! Patches are made for a few rows of output at a time, in a recycled buffer of [`TILE_BYTES`], or of one output row
//! where that is more. A convolution with few taps (`in_channels * kernel rows * kernel cols`) is computed directly.

use std::ops::Range;

use dahl_core::{Element, Real};
use dahl_core::simd::{Vectorised, dispatch};
use ndarray::s;

use super::gemm::{computes_in_itself, matrix, matrix_mut, product};
use super::im2col::{Window, pack, unpack_add};
use super::scratch::with_scratch;

/// Bytes of packed patches that are worked on at once: half of a common second-level cache.
const TILE_BYTES: usize = 256 * 1024;

/// The extents of a convolution, PyTorch's layouts: images `[batch, in_channels, rows, cols]`, filters
/// `[out_channels, in_channels, kernel rows, kernel cols]`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Convolution {
    pub(crate) batch: usize,
    pub(crate) in_channels: usize,
    pub(crate) out_channels: usize,
    pub(crate) window: Window,
}

impl Convolution {
    /// Elements of one image.
    fn image_len(&self) -> usize {
        self.in_channels * self.window.image[0] * self.window.image[1]
    }

    /// Output pixels of one channel of one image.
    fn positions(&self) -> usize {
        let [rows, cols] = self.window.positions();
        rows * cols
    }

    /// Elements of one filter.
    fn taps(&self) -> usize {
        self.window.patch_len(self.in_channels)
    }

    /// Output rows whose patches are packed together.
    fn tile_rows<T>(&self) -> usize {
        let [rows, cols] = self.window.positions();
        let row_bytes = (self.taps() * cols * size_of::<T>()).max(1);
        (TILE_BYTES / row_bytes).clamp(1, rows.max(1))
    }

    /// The tiles of an image: their output rows.
    fn tiles<T>(&self) -> impl Iterator<Item = Range<usize>> + use<T> {
        let (rows, step) = (self.window.positions()[0], self.tile_rows::<T>());
        (0..rows).step_by(step).map(move |row| row..rows.min(row + step))
    }

    fn assert_lengths(&self, input: usize, filters: usize, out: usize) {
        assert_eq!(input, self.batch * self.image_len());
        assert_eq!(filters, self.out_channels * self.taps());
        assert_eq!(out, self.batch * self.out_channels * self.positions());
    }
}

/// `values` themselves if they are in the compute type, else widened into `buffer`.
fn in_compute<'a, T: Real>(values: &'a [T], buffer: &'a mut [T::Compute]) -> &'a [T::Compute] {
    if computes_in_itself::<T>() {
        bytemuck::cast_slice(values)
    } else {
        T::widen_slice(values, buffer);
        buffer
    }
}

/// The length of the buffer that [`in_compute`] needs.
fn widened_len<T: Real>(length: usize) -> usize {
    if computes_in_itself::<T>() { 0 } else { length }
}

/// `out[n, f, r, c] = sum over i, j, k of filters[f, i, j, k] * input[n, i, r * stride + j - padding, c * stride + k - padding]`.
pub(crate) fn forward<T: Real>(conv: &Convolution, input: &[T], filters: &[T], out: &mut [T]) {
    conv.assert_lengths(input.len(), filters.len(), out.len());
    let (taps, positions, columns) = (conv.taps(), conv.positions(), conv.window.positions()[1]);
    if out.is_empty() {
        return;
    }
    if taps == 0 {
        out.fill(T::ZERO);
        return;
    }
    if is_direct(conv) {
        return dispatch(Direct { conv, input, filters, out });
    }
    let tile = conv.tile_rows::<T::Compute>() * columns;
    let pointwise = conv.window.is_pointwise() && computes_in_itself::<T>();
    let lengths = [
        widened_len::<T>(filters.len()),
        if pointwise { 0 } else { taps * tile },
        widened_len::<T>(conv.out_channels * positions),
    ];
    with_scratch(lengths, |[wide_filters, patches, wide_out]: [&mut [T::Compute]; 3]| {
        let filters = matrix(in_compute(filters, wide_filters), [conv.out_channels, taps]);
        let images = input.chunks_exact(conv.image_len());
        for (image, out) in images.zip(out.chunks_exact_mut(conv.out_channels * positions)) {
            let in_place = computes_in_itself::<T>();
            let sums = if in_place { bytemuck::cast_slice_mut(&mut *out) } else { &mut *wide_out };
            let mut sums = matrix_mut(sums, [conv.out_channels, positions]);
            if pointwise {
                product(filters, matrix(bytemuck::cast_slice(image), [taps, positions]), sums, false);
                continue;
            }
            for rows in conv.tiles::<T::Compute>() {
                let covered = rows.start * columns..rows.end * columns;
                let patches = &mut patches[..taps * covered.len()];
                pack(&conv.window, conv.in_channels, image, rows, patches);
                product(filters, matrix(patches, [taps, covered.len()]), sums.slice_mut(s![.., covered]), false);
            }
            if !in_place {
                T::narrow_slice(wide_out, out);
            }
        }
    });
}

/// The gradient by the filters, added to `filters_gradient` (in the compute type).
pub(crate) fn backward_filters<T: Real>(
    conv: &Convolution,
    input: &[T],
    gradient: &[T],
    filters_gradient: &mut [T::Compute],
) {
    conv.assert_lengths(input.len(), filters_gradient.len(), gradient.len());
    let (taps, positions, columns) = (conv.taps(), conv.positions(), conv.window.positions()[1]);
    if gradient.is_empty() || taps == 0 {
        return;
    }
    let tile = conv.tile_rows::<T::Compute>() * columns;
    let lengths = [taps * tile, widened_len::<T>(conv.out_channels * positions)];
    with_scratch(lengths, |[patches, wide_gradient]: [&mut [T::Compute]; 2]| {
        let images = input.chunks_exact(conv.image_len());
        for (image, gradient) in images.zip(gradient.chunks_exact(conv.out_channels * positions)) {
            let gradient = matrix(in_compute(gradient, wide_gradient), [conv.out_channels, positions]);
            for rows in conv.tiles::<T::Compute>() {
                let covered = rows.start * columns..rows.end * columns;
                let patches = &mut patches[..taps * covered.len()];
                pack(&conv.window, conv.in_channels, image, rows, patches);
                let patches = matrix(patches, [taps, covered.len()]);
                let sums = matrix_mut(filters_gradient, [conv.out_channels, taps]);
                product(gradient.slice(s![.., covered]), patches.reversed_axes(), sums, true);
            }
        }
    });
}

/// The gradient by the input.
pub(crate) fn backward_input<T: Real>(conv: &Convolution, gradient: &[T], filters: &[T], input_gradient: &mut [T]) {
    conv.assert_lengths(input_gradient.len(), filters.len(), gradient.len());
    let (taps, positions, columns) = (conv.taps(), conv.positions(), conv.window.positions()[1]);
    if gradient.is_empty() || taps == 0 {
        input_gradient.fill(T::ZERO);
        return;
    }
    let tile = conv.tile_rows::<T::Compute>() * columns;
    let lengths = [
        widened_len::<T>(filters.len()),
        taps * tile,
        widened_len::<T>(conv.out_channels * positions),
        widened_len::<T>(conv.image_len()),
    ];
    with_scratch(lengths, |[wide_filters, patches, wide_gradient, wide_image]: [&mut [T::Compute]; 4]| {
        let filters = matrix(in_compute(filters, wide_filters), [conv.out_channels, taps]).reversed_axes();
        let gradients = gradient.chunks_exact(conv.out_channels * positions);
        for (gradient, image) in gradients.zip(input_gradient.chunks_exact_mut(conv.image_len())) {
            let gradient = matrix(in_compute(gradient, wide_gradient), [conv.out_channels, positions]);
            let in_place = computes_in_itself::<T>();
            let sums = if in_place { bytemuck::cast_slice_mut(&mut *image) } else { &mut *wide_image };
            sums.fill(T::Compute::ZERO);
            for rows in conv.tiles::<T::Compute>() {
                let covered = rows.start * columns..rows.end * columns;
                let patches = &mut patches[..taps * covered.len()];
                let shape = [taps, covered.len()];
                product(filters, gradient.slice(s![.., covered]), matrix_mut(patches, shape), false);
                dispatch(UnpackAdd { conv, patches, rows, image: sums });
            }
            if !in_place {
                T::narrow_slice(wide_image, image);
            }
        }
    });
}

/// [`unpack_add`] in vectors.
struct UnpackAdd<'a, T> {
    conv: &'a Convolution,
    patches: &'a [T],
    rows: Range<usize>,
    image: &'a mut [T],
}

impl<T: Real> Vectorised for UnpackAdd<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        unpack_add(&self.conv.window, self.conv.in_channels, self.patches, self.rows, self.image);
    }
}

/// With at most this many taps a product on packed patches spends more on packing than on multiplying.
const DIRECT_TAPS: usize = 32;
/// Output pixels that the direct convolution computes together, in vector registers, ..
const LANES: usize = 32;
/// .. and output channels.
const FILTERS: usize = 4;

fn is_direct(conv: &Convolution) -> bool {
    conv.window.stride[1] == 1 && conv.taps() <= DIRECT_TAPS
}

/// [`forward`] for few taps and column stride 1: the image rows under the kernel are copied, with their padding, into
/// a small buffer; then [`LANES`] neighbouring pixels of [`FILTERS`] channels are summed in registers, tap by tap.
struct Direct<'a, T> {
    conv: &'a Convolution,
    input: &'a [T],
    filters: &'a [T],
    out: &'a mut [T],
}

impl<T: Real> Vectorised for Direct<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { conv, input, filters, out } = self;
        let Convolution { in_channels, out_channels, window, .. } = *conv;
        let ([kernel_rows, kernel_cols], [image_rows, image_cols]) = (window.kernel, window.image);
        let ([out_rows, out_cols], taps) = (window.positions(), conv.taps());
        // A line holds every column that the last block of lanes reads, so that blocks need no edge cases.
        let line_len = out_cols.next_multiple_of(LANES) + kernel_cols - 1;
        let groups = out_channels.div_ceil(FILTERS);
        let lengths = [in_channels * kernel_rows * line_len, groups * taps * FILTERS];
        with_scratch(lengths, |[lines, weights]: [&mut [T::Compute]; 2]| {
            interleave(filters, taps, out_channels, weights);
            lines.fill(T::Compute::ZERO);
            let images = input.chunks_exact(conv.image_len());
            for (image, out) in images.zip(out.chunks_exact_mut(out_channels * out_rows * out_cols)) {
                for row in 0..out_rows {
                    for (line_index, line) in lines.chunks_exact_mut(line_len).enumerate() {
                        let (channel, row_tap) = (line_index / kernel_rows, line_index % kernel_rows);
                        match window.source(0, row, row_tap) {
                            Some(source) => {
                                let from = &image[(channel * image_rows + source) * image_cols..][..image_cols];
                                let to = &mut line[window.padding[1]..][..image_cols];
                                for (to, from) in to.iter_mut().zip(from) {
                                    *to = from.widen();
                                }
                            }
                            None => line.fill(T::Compute::ZERO),
                        }
                    }
                    for (group, weights) in weights.chunks_exact(taps * FILTERS).enumerate() {
                        for col in (0..out_cols).step_by(LANES) {
                            let sums = lanes::<T::Compute>(lines, line_len, kernel_cols, weights, col);
                            let width = LANES.min(out_cols - col);
                            for (filter, sums) in (group * FILTERS..out_channels).zip(&sums) {
                                let to = &mut out[(filter * out_rows + row) * out_cols + col..][..width];
                                for (to, sum) in to.iter_mut().zip(sums) {
                                    *to = T::narrow(*sum);
                                }
                            }
                        }
                    }
                }
            }
        });
    }
}

/// Sums of [`LANES`] output pixels of [`FILTERS`] channels.
#[inline(always)]
fn lanes<T: Real>(lines: &[T], line_len: usize, kernel_cols: usize, weights: &[T], col: usize) -> [[T; LANES]; FILTERS] {
    let mut sums = [[T::ZERO; LANES]; FILTERS];
    let mut weights = weights.chunks_exact(FILTERS);
    for line in lines.chunks_exact(line_len) {
        for pixels in line[col..].windows(LANES).take(kernel_cols) {
            let Some(weights) = weights.next() else { return sums };
            for (sums, &weight) in sums.iter_mut().zip(weights) {
                for (sum, &pixel) in sums.iter_mut().zip(pixels) {
                    *sum += weight * pixel;
                }
            }
        }
    }
    sums
}

/// Reorders filters to `[group][tap][filter of the group]`, with zeros for filters that do not exist.
fn interleave<T: Real>(filters: &[T], taps: usize, out_channels: usize, weights: &mut [T::Compute]) {
    for (group, weights) in weights.chunks_exact_mut(taps * FILTERS).enumerate() {
        for (tap, weights) in weights.chunks_exact_mut(FILTERS).enumerate() {
            for (filter, weight) in (group * FILTERS..).zip(weights) {
                *weight =
                    if filter < out_channels { filters[filter * taps + tap].widen() } else { T::Compute::ZERO };
            }
        }
    }
}
