//! The gradients of a convolution with a rectifier, and a pooling if there is one: by its filters and its bias, and by
//! its sums.
//!
//! If only the filters need the gradient by the sums, it is computed for some filters at a time and never stored as a
//! whole.

use std::ops::Range;

use bytemuck::{cast_slice, cast_slice_mut};
use dahl_core::{Element, ElementType, Real};

use crate::cpu::compute::widened_len;
use crate::cpu::conv2d::{self, Convolution, Direct, IMAGES, add_if_finite};
use crate::cpu::direct::{
    self, Images, Rectified, Unpool, UnpoolWorkspace, pooled, rectified, window_places,
};
use crate::cpu::gemm::Cores;
use crate::cpu::lanes::in_lanes;
use crate::cpu::row_major::add_sums;
use crate::cpu::scratch::with_scratch;

/// The output of the forward pass, and the gradient by it.
#[derive(Clone, Copy)]
pub(crate) struct Passed<'a, T> {
    pub(crate) gradient: &'a [T],
    pub(crate) out: &'a [T],
    /// The windows, if the forward pass pooled.
    pub(crate) windows: Option<Windows<'a>>,
}

/// Windows of max pooling, which do not overlap.
#[derive(Clone, Copy)]
pub(crate) struct Windows<'a> {
    pub(crate) size: [usize; 2],
    /// The index of each window's maximum in its plane.
    pub(crate) index: &'a [u32],
}

impl<T: Real> Passed<'_, T> {
    /// The part that belongs to these elements.
    fn of(&self, elements: Range<usize>) -> Self {
        let windows =
            self.windows.map(|Windows { size, index }| Windows { size, index: &index[elements.clone()] });
        Self { gradient: &self.gradient[elements.clone()], out: &self.out[elements], windows }
    }

    /// Writes the gradient by the sums, in planes of `positions`. For types without vectors, and for indices anywhere
    /// in a plane.
    fn by_sums(&self, positions: usize, sums: &mut [T::Compute]) {
        sums.fill(T::Compute::ZERO);
        let len = self.gradient.len() / (sums.len() / positions).max(1);
        for (plane, sums) in sums.chunks_exact_mut(positions).enumerate() {
            for (place, number) in (plane * len..(plane + 1) * len).enumerate() {
                let place = self.windows.map_or(place, |windows| windows.index[number] as usize);
                sums[place] = rectified(self.out[number], self.gradient[number].widen());
            }
        }
    }

    /// Adds to `by_bias` the gradient that ReLU passes, summed over each channel of `batch` images.
    fn add_up(&self, batch: usize, by_bias: &mut [T::Compute]) {
        let len = self.gradient.len() / (batch * by_bias.len());
        let planes = self.gradient.chunks_exact(len).zip(self.out.chunks_exact(len));
        for (plane, (gradient, out)) in planes.enumerate() {
            for (&gradient, &out) in gradient.iter().zip(out) {
                by_bias[plane % by_bias.len()] += rectified(out, gradient.widen());
            }
        }
    }
}

/// Adds the gradients by the filters and by the bias to both.
pub(crate) fn by_parameters<T: Real>(
    conv: &Convolution,
    input: &[T],
    passed: Passed<'_, T>,
    [by_filters, by_bias]: [&mut [T::Compute]; 2],
) {
    if passed.gradient.is_empty() {
        return;
    }
    if by_filters.is_empty() || input.is_empty() {
        return step_by_step(conv, input, passed, [by_filters, by_bias]);
    }
    let image_len = passed.gradient.len() / conv.batch;
    if conv.batch > IMAGES {
        // As `conv2d::backward_filters`: sums over groups of images.
        let groups = conv.batch.div_ceil(IMAGES);
        let lengths = [groups * by_filters.len(), groups * by_bias.len()];
        with_scratch(lengths, |[filters, biases]: [&mut [T::Compute]; 2]| {
            filters.fill(T::Compute::ZERO);
            biases.fill(T::Compute::ZERO);
            let totals =
                filters.chunks_exact_mut(by_filters.len()).zip(biases.chunks_exact_mut(by_bias.len()));
            for (group, (filters, biases)) in totals.enumerate() {
                let images = group * IMAGES..conv.batch.min((group + 1) * IMAGES);
                let passed = passed.of(images.start * image_len..images.end * image_len);
                let input = &input[images.start * conv.image_len()..images.end * conv.image_len()];
                let conv = Convolution { batch: images.len(), ..*conv };
                by_parameters(&conv, input, passed, [filters, biases]);
            }
            add_sums(filters, [1, groups, by_filters.len()], by_filters);
            add_sums(biases, [1, groups, by_bias.len()], by_bias);
        });
        return;
    }
    let direct = Direct::of::<T>(conv).expect("a convolution by steps of one");
    let operands = [cast_slice(input), cast_slice(passed.gradient), cast_slice(passed.out)];
    let is_added = add_if_finite([&mut *by_filters, &mut *by_bias], |sums| {
        direct.by_parameters(operands, passed.windows, sums.map(cast_slice_mut))
    });
    if !is_added {
        step_by_step(conv, input, passed, [by_filters, by_bias]);
    }
}

impl Direct<'_> {
    /// [`by_parameters`], with the sums in registers.
    fn by_parameters(
        &self,
        [input, gradient, out]: [&[u8]; 3],
        windows: Option<Windows<'_>>,
        [by_filters, by_bias]: [&mut [u8]; 2],
    ) -> Option<()> {
        let (shape, output) = (self.conv.filters(), self.conv.window.positions());
        in_lanes!(self.element, U => {
            let images = Images::<U>::whole(cast_slice(input), self.conv.image_len());
            let (gradient, out) = (cast_slice(gradient), cast_slice(out));
            let (by_filters, by_bias) = (cast_slice_mut(by_filters), cast_slice_mut(by_bias));
            if let Some(Windows { size, index }) = windows {
                with_unpool_workspace::<U, _>(output, size, |workspace| {
                    let source = Unpool::<U> { gradient, out, index, size, by_bias, workspace };
                    direct::gradient(self.plane, shape, images, source, by_filters);
                });
            } else {
                let len = output.iter().product();
                let lengths = [len, widened_len::<U>(len), widened_len::<U>(len)];
                with_scratch(lengths, |[passed, wide_gradient, wide_out]| {
                    let source = Rectified::<U> { gradient, out, by_bias, passed, wide_gradient, wide_out };
                    direct::gradient(self.plane, shape, images, source, by_filters);
                });
            }
        })
    }
}

/// [`by_parameters`] by way of the gradient by the sums. For types without vectors, and for sums that are not finite.
fn step_by_step<T: Real>(
    conv: &Convolution,
    input: &[T],
    passed: Passed<'_, T>,
    [by_filters, by_bias]: [&mut [T::Compute]; 2],
) {
    let lengths = [input.len(), conv.batch * conv.out_channels * conv.positions()];
    with_scratch(lengths, |[wide_input, sums]: [&mut [T::Compute]; 2]| {
        T::widen_slice(input, wide_input);
        passed.by_sums(conv.positions(), sums);
        passed.add_up(conv.batch, by_bias);
        conv2d::backward_filters(Cores::One, conv, wide_input, sums, by_filters);
    });
}

/// Writes the gradient by the sums, in planes of `output` rows and columns, from planes of `left`, and adds the one by
/// the bias.
pub(crate) fn by_sums<T: Real>(
    [output, left]: [[usize; 2]; 2],
    passed: Passed<'_, T>,
    out: &mut [T],
    by_bias: &mut [T::Compute],
) {
    if passed.gradient.is_empty() {
        return out.fill(T::ZERO);
    }
    let batch = passed.gradient.len() / (left.iter().product::<usize>() * by_bias.len());
    with_scratch([batch * by_bias.len()], |[of_planes]: [&mut [T::Compute]; 1]| {
        of_planes.fill(T::Compute::ZERO);
        let operands = [cast_slice(passed.gradient), cast_slice(passed.out)];
        // If a larger output was pooled to `left`, the window's size is not known.
        let windows = passed.windows.filter(|windows| pooled(output, windows.size) == left);
        let (element, to) = (ElementType::of::<T>(), cast_slice_mut(&mut *out));
        let is_done = windows.is_some_and(|windows| {
            unpool(element, output, operands, windows, to, cast_slice_mut(of_planes)).is_some()
        });
        if is_done {
            return add_sums(of_planes, [1, batch, by_bias.len()], by_bias);
        }
        passed.add_up(batch, by_bias);
        with_scratch([out.len()], |[sums]: [&mut [T::Compute]; 1]| {
            passed.by_sums(output.iter().product(), sums);
            T::narrow_slice(sums, out);
        });
    });
}

/// [`by_sums`], if the type has vectors. Adds the gradient that passes to each plane's element of `of_planes`.
fn unpool(
    element: ElementType,
    output: [usize; 2],
    [gradient, out]: [&[u8]; 2],
    Windows { size, index }: Windows<'_>,
    to: &mut [u8],
    of_planes: &mut [u8],
) -> Option<()> {
    in_lanes!(element, U => {
        with_unpool_workspace::<U, _>(output, size, |workspace| {
            let (gradient, out, by_bias) = (cast_slice(gradient), cast_slice(out), cast_slice_mut(of_planes));
            let source = Unpool::<U> { gradient, out, index, size, by_bias, workspace };
            direct::unpool(output, source, cast_slice_mut(to));
        });
    })
}

/// Calls `f` with a workspace to unpool planes of `output` rows and columns, from windows of this size.
fn with_unpool_workspace<T: Real, R>(
    output: [usize; 2],
    size: [usize; 2],
    f: impl FnOnce(UnpoolWorkspace<'_, T::Compute>) -> R,
) -> R {
    let windows = pooled(output, size).iter().product();
    with_scratch(
        [UnpoolWorkspace::<T::Compute>::len(windows); 4],
        |[offsets, passed, gradient, out]: [&mut [T::Compute]; 4]| {
            with_scratch([windows], |[firsts]: [&mut [u32]; 1]| {
                window_places(output, size, firsts);
                f(UnpoolWorkspace { firsts, offsets, passed, gradient, out })
            })
        },
    )
}
