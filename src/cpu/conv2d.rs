//! Convolution of a batch of images and its gradients. Where there is no faster way, by matrix products on packed
//! patches.
//!
//! With `patches` of `[channels * kernel rows * kernel cols, positions]` for each image ([`im2col`](super::im2col)):
//!
//! * [`forward`]: `out = filters x patches`,
//! * [`backward_filters`]: `filters_gradient += gradient x patches^T`,
//! * [`backward_input`]: `patches_gradient = filters^T x gradient`, added back to the pixels they came from.
//!
//! Patches are packed for a few rows of output at a time, in a buffer of [`TILE_BYTES`], or of one row if that is larger. They
//! are for kernels with a stride larger than one, and for numbers that a border of zeros would change. Other convolutions
//! are [`direct`](super::direct), without patches; this module chooses between both.

use std::ops::Range;

use bytemuck::{cast_slice, cast_slice_mut};
use dahl_core::rayon::{self, prelude::*};
use dahl_core::simd::{Vectorised, dispatch};
use dahl_core::{Element, ElementType, Real};
use ndarray::s;

use super::compute::{computes_in_itself, in_compute, widened_len};
use super::direct::{self, Filters, Given, Images, Order, Plane, Write};
use super::gemm::{Cores, matrix, matrix_mut, product, product_on};
use super::im2col::{Window, pack, unpack_add};
use super::lanes::in_lanes;
use super::row_major::add_sums;
use super::scratch::with_scratch;
use super::shared_rows::share_parts;

/// Bytes of the patches that are packed at a time: half of a common second-level cache.
const TILE_BYTES: usize = 256 * 1024;

/// The extents of a convolution in PyTorch's layouts: images `[batch, in_channels, rows, cols]`, filters
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
    pub(super) fn image_len(&self) -> usize {
        self.in_channels * self.window.image[0] * self.window.image[1]
    }

    /// Output pixels of one channel of one image.
    pub(super) fn positions(&self) -> usize {
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

    /// The planes of a direct convolution, if the stride is 1.
    pub(super) fn plane(&self) -> Option<Plane> {
        let Window { image, kernel, stride, padding } = self.window;
        (stride == [1, 1]).then_some(Plane { image, kernel, dilation: [1, 1], padding })
    }

    /// Its filters.
    pub(super) fn filters(&self) -> Filters {
        let taps = self.window.kernel[0] * self.window.kernel[1];
        Filters { out_channels: self.out_channels, in_channels: self.in_channels, taps }
    }

    fn assert_lengths(&self, input: usize, filters: usize, out: usize) {
        assert_eq!(input, self.batch * self.image_len());
        assert_eq!(filters, self.out_channels * self.taps());
        assert_eq!(out, self.batch * self.out_channels * self.positions());
    }
}

/// A convolution with stride 1, without im2col, of an element type that has vectors; for other types its functions do
/// nothing. They are not generic, so the loops are compiled only in this crate, and not in every crate that calls them.
pub(super) struct Direct<'a> {
    pub(super) element: ElementType,
    pub(super) conv: &'a Convolution,
    pub(super) plane: Plane,
}

impl<'a> Direct<'a> {
    /// That of elements of type `T`, if the stride is 1.
    pub(super) fn of<T: Element>(conv: &'a Convolution) -> Option<Self> {
        Some(Self { element: ElementType::of::<T>(), conv, plane: conv.plane()? })
    }

    /// [`forward`].
    fn forward(&self, [input, filters]: [&[u8]; 2], out: &mut [u8]) -> Option<()> {
        in_lanes!(self.element, U => {
            let write = Write::<U> { out: cast_slice_mut(out), out_channels: self.conv.out_channels };
            let filters = (cast_slice::<_, U>(filters), Order::Forward);
            let images = Images::whole(cast_slice(input), self.conv.image_len());
            direct::convolve(self.plane, self.conv.filters(), images, filters, None, write);
        })
    }

    /// [`backward_filters`], with the sums in registers.
    fn backward_filters(&self, [input, gradient]: [&[u8]; 2], total: &mut [u8]) -> Option<()> {
        in_lanes!(self.element, U => {
            let gradient = Given::<U> { gradient: cast_slice(gradient), out_channels: self.conv.out_channels };
            let images = Images::<U>::whole(cast_slice(input), self.conv.image_len());
            direct::gradient(self.plane, self.conv.filters(), images, gradient, cast_slice_mut(total));
        })
    }

    /// [`backward_input`], by a convolution of the gradient with the reversed filters.
    fn backward_input(&self, [gradient, filters]: [&[u8]; 2], input_gradient: &mut [u8]) -> Option<()> {
        let (plane, forward) = (self.plane.reversed()?, self.conv.filters());
        let shape =
            Filters { out_channels: forward.in_channels, in_channels: forward.out_channels, ..forward };
        in_lanes!(self.element, U => {
            let write = Write::<U> { out: cast_slice_mut(input_gradient), out_channels: self.conv.in_channels };
            let filters = (cast_slice::<_, U>(filters), Order::Reversed);
            let gradient_len = self.conv.out_channels * self.conv.positions();
            let images = Images::whole(cast_slice(gradient), gradient_len);
            direct::convolve(plane, shape, images, filters, None, write);
        })
    }
}

/// `out[n, f, r, c] = sum over i, j, k of filters[f, i, j, k] * input[n, i, r * stride + j - padding, c * stride + k - padding]`.
pub(crate) fn forward<T: Real>(conv: &Convolution, input: &[T], filters: &[T], out: &mut [T]) {
    conv.assert_lengths(input.len(), filters.len(), out.len());
    let (taps, positions, columns) = (conv.taps(), conv.positions(), conv.window.positions()[1]);
    if out.is_empty() {
        return;
    }
    if input.is_empty() || taps == 0 {
        out.fill(T::ZERO);
        return;
    }
    if let Some(direct) = Direct::of::<T>(conv)
        && let Some(()) = direct.forward([cast_slice(input), cast_slice(filters)], cast_slice_mut(out))
    {
        return;
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
            let sums = if in_place { cast_slice_mut(&mut *out) } else { &mut *wide_out };
            let mut sums = matrix_mut(sums, [conv.out_channels, positions]);
            if pointwise {
                product(filters, matrix(cast_slice(image), [taps, positions]), sums, false);
                continue;
            }
            for rows in conv.tiles::<T::Compute>() {
                let covered = rows.start * columns..rows.end * columns;
                let patches = &mut patches[..taps * covered.len()];
                pack(&conv.window, conv.in_channels, image, rows, patches);
                product(
                    filters,
                    matrix(patches, [taps, covered.len()]),
                    sums.slice_mut(s![.., covered]),
                    false,
                );
            }
            if !in_place {
                T::narrow_slice(wide_out, out);
            }
        }
    });
}

/// [`forward`] on the cores of the rayon pool. Each core computes whole images, so the results are bitwise the same.
pub(crate) fn forward_on_cores<T: Real>(conv: &Convolution, input: &[T], filters: &[T], out: &mut [T]) {
    conv.assert_lengths(input.len(), filters.len(), out.len());
    let (image_len, out_len) = (conv.image_len(), conv.out_channels * conv.positions());
    if image_len == 0 || out_len == 0 {
        return forward(conv, input, filters, out);
    }
    let at_once = images_at_once(conv.batch);
    let images = input.par_chunks(at_once * image_len).zip(out.par_chunks_mut(at_once * out_len));
    images.for_each(|(input, out)| {
        let images = Convolution { batch: out.len() / out_len, ..*conv };
        forward(&images, input, filters, out);
    });
}

/// Images per job of a core: enough that filters are not packed for each image, few enough that all cores have jobs.
pub(super) fn images_at_once(batch: usize) -> usize {
    batch.div_ceil(2 * rayon::current_num_threads()).max(1)
}

/// Whether no element is infinite or NaN.
pub(super) fn is_finite<T: Real>(elements: &[T]) -> bool {
    /// [`is_finite`] in vectors.
    struct IsFinite<'a, T>(&'a [T]);
    impl<T: Real> Vectorised for IsFinite<'_, T> {
        type Output = bool;

        #[inline(always)]
        fn run(self) -> bool {
            self.0.chunks(256).all(|elements| {
                elements.iter().fold(true, |is_finite, element| is_finite & element.is_finite())
            })
        }
    }
    dispatch(IsFinite(elements))
}

/// Calls `add` and keeps what it added to `sums` if all are finite then. Otherwise, or if it added nothing, returns false.
///
/// For loops that also add products with zeros: these change nothing unless the other factor is not finite; then it is NaN.
pub(super) fn add_if_finite<C: Real, const N: usize>(
    mut sums: [&mut [C]; N],
    add: impl FnOnce([&mut [C]; N]) -> Option<()>,
) -> bool {
    with_scratch(sums.each_ref().map(|sums| sums.len()), |mut before: [&mut [C]; N]| {
        for (before, sums) in before.iter_mut().zip(&sums) {
            before.copy_from_slice(sums);
        }
        let is_added = add(sums.each_mut().map(|sums| &mut **sums)).is_some();
        if is_added && sums.iter().all(|sums| is_finite(sums)) {
            return true;
        }
        for (sums, before) in sums.iter_mut().zip(before) {
            sums.copy_from_slice(before);
        }
        false
    })
}

/// Images whose filter gradients are added one after the other before their sum is added to the total.
pub(super) const IMAGES: usize = 64;

/// The gradient by the filters, added to `filters_gradient` (in the compute type). Several cores share the groups of
/// [`IMAGES`] and the filters of products.
pub(crate) fn backward_filters<T: Real>(
    cores: Cores,
    conv: &Convolution,
    input: &[T],
    gradient: &[T],
    filters_gradient: &mut [T::Compute],
) {
    conv.assert_lengths(input.len(), filters_gradient.len(), gradient.len());
    let (taps, positions, columns) = (conv.taps(), conv.positions(), conv.window.positions()[1]);
    if gradient.is_empty() || input.is_empty() || taps == 0 {
        return;
    }
    let tile = conv.tile_rows::<T::Compute>() * columns;
    let (image_len, gradient_len) = (conv.image_len(), conv.out_channels * positions);
    if conv.batch > IMAGES {
        let groups = conv.batch.div_ceil(IMAGES);
        with_scratch([groups * filters_gradient.len()], |[sums]: [&mut [T::Compute]; 1]| {
            let len = filters_gradient.len();
            let inputs = [(input, IMAGES * image_len), (gradient, IMAGES * gradient_len)];
            share_parts(cores, inputs, (&mut *sums, len), |[input, gradient], sums| {
                sums.fill(T::Compute::ZERO);
                let group = Convolution { batch: gradient.len() / gradient_len, ..*conv };
                backward_filters(cores, &group, input, gradient, sums);
            });
            add_sums(sums, [1, groups, filters_gradient.len()], filters_gradient);
        });
        return;
    }
    let operands = [cast_slice(input), cast_slice(gradient)];
    if let Some(direct) = Direct::of::<T>(conv)
        && add_if_finite([&mut *filters_gradient], |[sums]| {
            direct.backward_filters(operands, cast_slice_mut(sums))
        })
    {
        return;
    }
    let lengths = [taps * tile, widened_len::<T>(gradient_len)];
    with_scratch(lengths, |[patches, wide_gradient]: [&mut [T::Compute]; 2]| {
        let images = input.chunks_exact(image_len);
        for (image, gradient) in images.zip(gradient.chunks_exact(gradient_len)) {
            let gradient = matrix(in_compute(gradient, wide_gradient), [conv.out_channels, positions]);
            for rows in conv.tiles::<T::Compute>() {
                let covered = rows.start * columns..rows.end * columns;
                let patches = &mut patches[..taps * covered.len()];
                pack(&conv.window, conv.in_channels, image, rows, patches);
                let patches = matrix(patches, [taps, covered.len()]);
                let sums = matrix_mut(filters_gradient, [conv.out_channels, taps]);
                product_on(cores, gradient.slice(s![.., covered]), patches.reversed_axes(), sums, true);
            }
        }
    });
}

/// The gradient by the input.
pub(crate) fn backward_input<T: Real>(
    conv: &Convolution,
    gradient: &[T],
    filters: &[T],
    input_gradient: &mut [T],
) {
    conv.assert_lengths(input_gradient.len(), filters.len(), gradient.len());
    let (taps, positions, columns) = (conv.taps(), conv.positions(), conv.window.positions()[1]);
    if gradient.is_empty() || input_gradient.is_empty() || taps == 0 {
        input_gradient.fill(T::ZERO);
        return;
    }
    // Filters are multiplied with the border of zeros. The product is not zero if an element of a filter is infinite.
    let operands = [cast_slice(gradient), cast_slice(filters)];
    if let Some(direct) = Direct::of::<T>(conv)
        && is_finite(filters)
        && let Some(()) = direct.backward_input(operands, cast_slice_mut(input_gradient))
    {
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
            let sums = if in_place { cast_slice_mut(&mut *image) } else { &mut *wide_image };
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

/// [`backward_input`] on the cores of the rayon pool, each of which computes whole images.
pub(crate) fn backward_input_on_cores<T: Real>(
    conv: &Convolution,
    gradient: &[T],
    filters: &[T],
    input_gradient: &mut [T],
) {
    conv.assert_lengths(input_gradient.len(), filters.len(), gradient.len());
    let (image_len, gradient_len) = (conv.image_len(), conv.out_channels * conv.positions());
    if image_len == 0 || gradient_len == 0 {
        return backward_input(conv, gradient, filters, input_gradient);
    }
    let at_once = images_at_once(conv.batch);
    let gradients = gradient.par_chunks(at_once * gradient_len);
    gradients.zip(input_gradient.par_chunks_mut(at_once * image_len)).for_each(|(gradient, images)| {
        let conv = Convolution { batch: images.len() / image_len, ..*conv };
        backward_input(&conv, gradient, filters, images);
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
