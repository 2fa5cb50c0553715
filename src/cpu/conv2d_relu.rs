//! Convolution with what follows it in a network, while the sums are at hand: bias, rectifier, and pooling; and the
//! gradient by the filters behind all three.
//!
//! A convolution of few channels takes less time than writing its output to memory and reading it again. Here the output
//! never gets there. Types without vectors take the same steps one after the other.

use bytemuck::{cast_slice, cast_slice_mut};
use dahl_core::rayon::prelude::*;
use dahl_core::{Element, ElementType, Real};

use super::compute::{in_compute, widened_len};
use super::conv2d::{self, Convolution, Direct, IMAGES, add_if_finite, images_at_once};
use super::direct::{
    self, Order, PoolRoom, Relu, ReluPool, Unpool, UnpoolRoom, pooled, rectified, window_places,
};
use super::lanes::{Lanes, in_lanes};
use super::row_major::add_sums;
use super::scratch::with_scratch;

/// What `out` becomes.
pub(crate) struct Pooled<'a, T> {
    /// The window; windows do not overlap.
    pub(crate) size: [usize; 2],
    pub(crate) out: &'a mut [T],
    pub(crate) index: &'a mut [u32],
}

/// `out = max(conv2d(input, filters) + bias, 0)`.
pub(crate) fn forward_relu<T: Real>(
    conv: &Convolution,
    input: &[T],
    filters: &[T],
    bias: &[T],
    out: &mut [T],
) {
    if out.is_empty() {
        return;
    }
    let direct = Direct::of::<T>(conv).expect("a convolution by steps of one");
    let operands = [cast_slice(input), cast_slice(filters), cast_slice(bias)];
    if direct.relu(operands, cast_slice_mut(out)).is_none() {
        let positions = conv.positions();
        step_by_step(conv, input, filters, bias, |image, filter, sums| {
            let out = &mut out[(image * conv.out_channels + filter) * positions..][..positions];
            for (out, sum) in out.iter_mut().zip(sums) {
                *out = T::narrow(sum.max(T::Compute::ZERO));
            }
        });
    }
}

/// [`forward_relu`], of which the largest of each window remains.
pub(crate) fn forward_relu_pool<T: Real>(
    conv: &Convolution,
    input: &[T],
    filters: &[T],
    bias: &[T],
    pooling: Pooled<'_, T>,
) {
    let Pooled { size, out, index } = pooling;
    if out.is_empty() {
        return;
    }
    let direct = Direct::of::<T>(conv).expect("a convolution by steps of one");
    let output = conv.window.positions();
    let operands = [cast_slice(input), cast_slice(filters), cast_slice(bias)];
    if direct.relu_pool(operands, PooledBytes { size, out: cast_slice_mut(out), index }).is_some() {
        return;
    }
    let len = pooled(output, size).iter().product();
    with_scratch([len], |[best]: [&mut [T::Compute]; 1]| {
        step_by_step(conv, input, filters, bias, |image, filter, sums| {
            let begin = (image * conv.out_channels + filter) * len;
            pool(sums, output, size, best, &mut index[begin..][..len]);
            T::narrow_slice(best, &mut out[begin..][..len]);
        });
    });
}

/// [`Pooled`], of any type.
struct PooledBytes<'a> {
    size: [usize; 2],
    out: &'a mut [u8],
    index: &'a mut [u32],
}

impl Direct<'_> {
    /// [`forward_relu`].
    fn relu(&self, [input, filters, bias]: [&[u8]; 3], out: &mut [u8]) -> Option<()> {
        if input.is_empty() {
            return None;
        }
        in_lanes!(self.element, U => {
            let epilogue = Relu::<U> { out: cast_slice_mut(out), out_channels: self.conv.out_channels };
            self.convolve::<U, _>([cast_slice(input), cast_slice(filters), cast_slice(bias)], epilogue);
        })
    }

    /// [`forward_relu_pool`].
    fn relu_pool(&self, [input, filters, bias]: [&[u8]; 3], pooling: PooledBytes<'_>) -> Option<()> {
        if input.is_empty() {
            return None;
        }
        let PooledBytes { size, out, index } = pooling;
        in_lanes!(self.element, U => {
            let output = self.conv.window.positions();
            let [len, row_len] = PoolRoom::<<U as Real>::Compute>::lengths(output, size);
            with_scratch([pooled(output, size).iter().product(), len], |[firsts, places]: [&mut [u32]; 2]| {
                window_places(output, size, firsts);
                with_scratch([len, len, row_len, row_len], |[best, offsets, row, row_offsets]| {
                    let room = PoolRoom { firsts, best, offsets, places, row, row_offsets };
                    let (out, out_channels) = (cast_slice_mut(out), self.conv.out_channels);
                    let epilogue = ReluPool::<U> { out, index, out_channels, size, room };
                    self.convolve::<U, _>([cast_slice(input), cast_slice(filters), cast_slice(bias)], epilogue);
                });
            });
        })
    }

    /// A convolution of an input with filters, and a bias, whose sums the epilogue takes.
    fn convolve<T: Real<Compute: Lanes>, E: direct::Epilogue<T::Compute>>(
        &self,
        [input, filters, bias]: [&[T]; 3],
        epilogue: E,
    ) {
        with_scratch([widened_len::<T>(bias.len())], |[wide]: [&mut [T::Compute]; 1]| {
            let (filters, bias) = ((filters, Order::Forward), in_compute(bias, wide));
            direct::convolve(self.plane, self.conv.filters(), input, filters, Some(bias), epilogue);
        });
    }

    /// [`backward_pooled`], by sums in registers.
    fn backward_pooled(
        &self,
        [input, gradient, out]: [&[u8]; 3],
        (size, index): ([usize; 2], &[u32]),
        [by_filters, by_bias]: [&mut [u8]; 2],
    ) -> Option<()> {
        in_lanes!(self.element, U => {
            with_unpool_room::<U, _>(self.conv.window.positions(), size, |room| {
                let (gradient, out) = (cast_slice(gradient), cast_slice(out));
                let by_bias = cast_slice_mut(by_bias);
                let source = Unpool::<U> { gradient, out, index, size, by_bias, room };
                let input: &[U] = cast_slice(input);
                let shape = self.conv.filters();
                direct::gradient(self.plane, shape, input, source, cast_slice_mut(by_filters));
            });
        })
    }
}

/// The largest of each window of a plane of sums, rectified, and where it was.
fn pool<C: Real>(sums: &[C], output: [usize; 2], size: [usize; 2], best: &mut [C], index: &mut [u32]) {
    let cols = pooled(output, size)[1];
    for (window, (best, index)) in best.iter_mut().zip(index).enumerate() {
        let first = window / cols * size[0] * output[1] + window % cols * size[1];
        let (mut largest, mut place) = (sums[first], first);
        for row in 0..size[0] {
            let begin = first + row * output[1];
            for (column, &sum) in sums[begin..begin + size[1]].iter().enumerate() {
                if !largest.is_nan() && (sum > largest || sum.is_nan()) {
                    (largest, place) = (sum, begin + column);
                }
            }
        }
        (*best, *index) = (largest.max(C::ZERO), place as u32);
    }
}

/// Calls `take` with the sums of each image and filter, the bias added, for types without vectors, and for images of no elements.
fn step_by_step<T: Real>(
    conv: &Convolution,
    input: &[T],
    filters: &[T],
    bias: &[T],
    mut take: impl FnMut(usize, usize, &[T::Compute]),
) {
    let positions = conv.positions();
    let lengths = [input.len(), filters.len(), conv.batch * conv.out_channels * positions];
    with_scratch(lengths, |[wide_input, wide_filters, sums]: [&mut [T::Compute]; 3]| {
        T::widen_slice(input, wide_input);
        T::widen_slice(filters, wide_filters);
        conv2d::forward(conv, wide_input, wide_filters, sums);
        for (place, sums) in sums.chunks_exact_mut(positions).enumerate() {
            let (image, filter) = (place / conv.out_channels, place % conv.out_channels);
            let bias = bias[filter].widen();
            sums.iter_mut().for_each(|sum| *sum += bias);
            take(image, filter, sums);
        }
    });
}

/// [`forward_relu`] on the cores of the rayon pool: each takes whole images, so the bits are the same.
pub(crate) fn forward_relu_on_cores<T: Real>(
    conv: &Convolution,
    input: &[T],
    filters: &[T],
    bias: &[T],
    out: &mut [T],
) {
    if out.is_empty() || input.is_empty() {
        return forward_relu(conv, input, filters, bias, out);
    }
    let (at_once, out_len) = (images_at_once(conv.batch), out.len() / conv.batch);
    let inputs = input.par_chunks(at_once * conv.image_len());
    inputs.zip(out.par_chunks_mut(at_once * out_len)).for_each(|(input, out)| {
        let images = Convolution { batch: out.len() / out_len, ..*conv };
        forward_relu(&images, input, filters, bias, out);
    });
}

/// [`forward_relu_pool`] on the cores of the rayon pool.
pub(crate) fn forward_relu_pool_on_cores<T: Real>(
    conv: &Convolution,
    input: &[T],
    filters: &[T],
    bias: &[T],
    pooling: Pooled<'_, T>,
) {
    let Pooled { size, out, index } = pooling;
    if out.is_empty() || input.is_empty() {
        return forward_relu_pool(conv, input, filters, bias, Pooled { size, out, index });
    }
    let (at_once, out_len) = (images_at_once(conv.batch), out.len() / conv.batch);
    let inputs = input.par_chunks(at_once * conv.image_len());
    let outs = out.par_chunks_mut(at_once * out_len).zip(index.par_chunks_mut(at_once * out_len));
    inputs.zip(outs).for_each(|(input, (out, index))| {
        let images = Convolution { batch: out.len() / out_len, ..*conv };
        forward_relu_pool(&images, input, filters, bias, Pooled { size, out, index });
    });
}

/// What [`forward_relu_pool`] made, and the gradient by it.
#[derive(Clone, Copy)]
pub(crate) struct Passed<'a, T> {
    pub(crate) gradient: &'a [T],
    pub(crate) out: &'a [T],
    pub(crate) index: &'a [u32],
}

/// The gradient by the filters and the one by the bias, behind rectifier and pooling, added to both.
pub(crate) fn backward_pooled<T: Real>(
    conv: &Convolution,
    input: &[T],
    passed: Passed<'_, T>,
    size: [usize; 2],
    [by_filters, by_bias]: [&mut [T::Compute]; 2],
) {
    if passed.gradient.is_empty() {
        return;
    }
    if by_filters.is_empty() || input.is_empty() {
        return backward_step_by_step(conv, input, passed, [by_filters, by_bias]);
    }
    let pooled_len = passed.gradient.len() / conv.batch;
    if conv.batch > IMAGES {
        // As `conv2d::backward_filters`: the sums of some images at a time.
        let groups = conv.batch.div_ceil(IMAGES);
        let lengths = [groups * by_filters.len(), groups * by_bias.len()];
        with_scratch(lengths, |[filters, biases]: [&mut [T::Compute]; 2]| {
            filters.fill(T::Compute::ZERO);
            biases.fill(T::Compute::ZERO);
            let totals =
                filters.chunks_exact_mut(by_filters.len()).zip(biases.chunks_exact_mut(by_bias.len()));
            for (group, (filters, biases)) in totals.enumerate() {
                let images = group * IMAGES..conv.batch.min((group + 1) * IMAGES);
                let pooled = images.start * pooled_len..images.end * pooled_len;
                let passed = Passed {
                    gradient: &passed.gradient[pooled.clone()],
                    out: &passed.out[pooled.clone()],
                    index: &passed.index[pooled],
                };
                let input = &input[images.start * conv.image_len()..images.end * conv.image_len()];
                let conv = Convolution { batch: images.len(), ..*conv };
                backward_pooled(&conv, input, passed, size, [filters, biases]);
            }
            add_sums(filters, [1, groups, by_filters.len()], by_filters);
            add_sums(biases, [1, groups, by_bias.len()], by_bias);
        });
        return;
    }
    let direct = Direct::of::<T>(conv).expect("a convolution by steps of one");
    let operands = [cast_slice(input), cast_slice(passed.gradient), cast_slice(passed.out)];
    let is_added = add_if_finite([&mut *by_filters, &mut *by_bias], |sums| {
        direct.backward_pooled(operands, (size, passed.index), sums.map(cast_slice_mut))
    });
    if !is_added {
        backward_step_by_step(conv, input, passed, [by_filters, by_bias]);
    }
}

/// [`backward_pooled`] by the gradient by the sums, for types without vectors, and for sums that are not finite.
fn backward_step_by_step<T: Real>(
    conv: &Convolution,
    input: &[T],
    passed: Passed<'_, T>,
    [by_filters, by_bias]: [&mut [T::Compute]; 2],
) {
    let lengths = [input.len(), conv.batch * conv.out_channels * conv.positions()];
    with_scratch(lengths, |[wide_input, sums]: [&mut [T::Compute]; 2]| {
        T::widen_slice(input, wide_input);
        unpool(conv.positions(), passed, sums);
        let pooled_len = passed.gradient.len() / (conv.batch * conv.out_channels);
        let planes = passed.gradient.chunks_exact(pooled_len).zip(passed.out.chunks_exact(pooled_len));
        for (place, (gradient, out)) in planes.enumerate() {
            for (&gradient, &out) in gradient.iter().zip(out) {
                by_bias[place % conv.out_channels] += rectified(out, gradient.widen());
            }
        }
        conv2d::backward_filters(conv, wide_input, sums, by_filters);
    });
}

/// The gradient by the sums, in planes of `output` rows and columns, from planes of `pooled`.
pub(crate) fn backward_relu_pool<T: Real>(
    output: [usize; 2],
    pooled: [usize; 2],
    passed: Passed<'_, T>,
    out: &mut [T],
) {
    if passed.gradient.is_empty() {
        return out.fill(T::ZERO);
    }
    let operands = [cast_slice(passed.gradient), cast_slice(passed.out)];
    let element = ElementType::of::<T>();
    if unpool_in_vectors(element, [output, pooled], operands, passed.index, cast_slice_mut(out)).is_none() {
        with_scratch([out.len()], |[sums]: [&mut [T::Compute]; 1]| {
            unpool(output.iter().product(), passed, sums);
            T::narrow_slice(sums, out);
        });
    }
}

/// [`backward_relu_pool`], if the type has vectors.
fn unpool_in_vectors(
    element: ElementType,
    [output, left]: [[usize; 2]; 2],
    [gradient, out]: [&[u8]; 2],
    index: &[u32],
    result: &mut [u8],
) -> Option<()> {
    // Of windows that would have left more, the size is not known.
    let size = [output[0] / left[0], output[1] / left[1]];
    if pooled(output, size) != left {
        return None;
    }
    let len: usize = left.iter().product();
    in_lanes!(element, U => {
        with_scratch([index.len() / len], |[by_bias]| {
            with_unpool_room::<U, _>(output, size, |room| {
                let (gradient, out) = (cast_slice(gradient), cast_slice(out));
                let source = Unpool::<U> { gradient, out, index, size, by_bias, room };
                direct::unpool(output, source, cast_slice_mut(result));
            });
        });
    })
}

/// Calls `f` with the room to unpool planes of `output` rows and columns, from windows of this size.
fn with_unpool_room<T: Real, R>(
    output: [usize; 2],
    size: [usize; 2],
    f: impl FnOnce(UnpoolRoom<'_, T::Compute>) -> R,
) -> R {
    let windows = pooled(output, size).iter().product();
    with_scratch(
        [UnpoolRoom::<T::Compute>::len(windows); 4],
        |[offsets, passed, gradient, out]: [&mut [T::Compute]; 4]| {
            with_scratch([windows], |[firsts]: [&mut [u32]; 1]| {
                window_places(output, size, firsts);
                f(UnpoolRoom { firsts, offsets, passed, gradient, out })
            })
        },
    )
}

/// The gradient by the sums, in planes of `positions`.
fn unpool<T: Real>(positions: usize, passed: Passed<'_, T>, sums: &mut [T::Compute]) {
    sums.fill(T::Compute::ZERO);
    let pooled_len = passed.gradient.len() / (sums.len() / positions).max(1);
    let planes = passed.gradient.chunks_exact(pooled_len).zip(passed.out.chunks_exact(pooled_len));
    let planes = planes.zip(passed.index.chunks_exact(pooled_len));
    for (sums, ((gradient, out), index)) in sums.chunks_exact_mut(positions).zip(planes) {
        for ((&gradient, &out), &place) in gradient.iter().zip(out).zip(index) {
            sums[place as usize] = rectified(out, gradient.widen());
        }
    }
}
