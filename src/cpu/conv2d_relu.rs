//! Convolution with fused epilogues: bias, rectifier and pooling are applied to the sums while these are in a cache;
//! and the gradients ([`backward`]).
//!
//! Writing the output of a convolution with few channels to memory and reading it again takes longer than the
//! convolution. With fusion the output never goes to memory. Types without vectors take the same steps one after the
//! other.

pub(crate) mod backward;

use bytemuck::{cast_slice, cast_slice_mut};
use dahl_core::rayon::prelude::*;
use dahl_core::{Element, Real};

use super::compute::{in_compute, widened_len};
use super::conv2d::{self, Convolution, Direct, images_at_once};
use super::direct::{self, Images, Order, PoolWorkspace, Relu, ReluPool, pooled, window_places};
use super::lanes::{Lanes, in_lanes};
use super::scratch::with_scratch;

/// The outputs of a convolution with ReLU and max pooling.
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

/// [`forward_relu`], then the maximum of each window.
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

/// [`Pooled`], of any element type.
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
            let [len, row_len] = PoolWorkspace::<<U as Real>::Compute>::lengths(output, size);
            with_scratch([pooled(output, size).iter().product(), len], |[firsts, places]: [&mut [u32]; 2]| {
                window_places(output, size, firsts);
                with_scratch([len, len, row_len, row_len], |[best, offsets, row, row_offsets]| {
                    let workspace = PoolWorkspace { firsts, best, offsets, places, row, row_offsets };
                    let (out, out_channels) = (cast_slice_mut(out), self.conv.out_channels);
                    let epilogue = ReluPool::<U> { out, index, out_channels, size, workspace };
                    self.convolve::<U, _>([cast_slice(input), cast_slice(filters), cast_slice(bias)], epilogue);
                });
            });
        })
    }

    /// A convolution of an input with filters, and a bias, whose sums are passed to `epilogue`.
    fn convolve<T: Real<Compute: Lanes>, E: direct::Epilogue<T::Compute>>(
        &self,
        [input, filters, bias]: [&[T]; 3],
        epilogue: E,
    ) {
        with_scratch([widened_len::<T>(bias.len())], |[wide]: [&mut [T::Compute]; 1]| {
            let (filters, bias) = ((filters, Order::Forward), in_compute(bias, wide));
            let images = Images::whole(input, self.conv.image_len());
            direct::convolve(self.plane, self.conv.filters(), images, filters, Some(bias), epilogue);
        });
    }
}

/// The maximum of each window of a plane of sums, after ReLU, and its index.
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

/// Calls `take` with the sums of each image and filter, bias included. For types without vectors, and for images
/// without elements.
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

/// [`forward_relu`] on the cores of the rayon pool. Each core computes whole images, so the results are bitwise the
/// same.
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
