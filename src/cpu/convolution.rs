//! Convolution over one to three spatial axes, with stride, padding, dilation and groups, and its gradients.
//!
//! For each sample and group, with `patches` of `[in_channels / groups * taps, positions]` ([`pack`]):
//!
//! * [`forward`]: `out = filters x patches`,
//! * [`backward_filters`]: `filters_gradient += gradient x patches^T`,
//! * [`backward_input`]: `patches_gradient = filters^T x gradient`, added back to where they came from.
//!
//! Patches are packed for some positions at a time, in a recycled buffer of [`TILE_BYTES`], or of [`POSITIONS`]
//! positions where that is larger. Two kinds of convolutions need no patches: those of groups of one input channel
//! ([`depthwise`](super::depthwise)), and those of images with strides of one, with and without a dilation ([`InGroups`]).

mod in_groups;

use std::ops::Range;

use bytemuck::{cast_slice, cast_slice_mut};
use dahl_core::rayon::prelude::*;
use dahl_core::simd::{Vectorised, dispatch};
use dahl_core::{Element, Real};
use ndarray::s;

use super::compute::{computes_in_itself, in_compute, widened_len};
use super::conv2d::is_finite;
use super::depthwise::{self, Channels, Samples};
use super::gemm::{Cores, matrix, matrix_mut, product, product_on};
use super::row_major::add_sums;
use super::scratch::with_scratch;
use super::shared_rows::share_rows;
use super::volume::{Volume, pack, unpack_add};

use in_groups::InGroups;

/// Bytes of the patches that are packed at a time: half of a common second-level cache.
const TILE_BYTES: usize = 256 * 1024;
/// The fewest positions that are packed at a time: a product of fewer columns is slow.
const POSITIONS: usize = 64;
/// Samples whose filter gradients are added one after the other before their sum is added to the total.
const SAMPLES: usize = 64;

/// The extents of a convolution: inputs `[batch, in_channels, volume]`, filters `[out_channels, in_channels / groups,
/// taps]`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Convolution {
    pub(crate) batch: usize,
    pub(crate) in_channels: usize,
    pub(crate) out_channels: usize,
    pub(crate) groups: usize,
    pub(crate) volume: Volume,
}

/// One group of a convolution.
#[derive(Clone, Copy, Debug)]
struct Group {
    out_channels: usize,
    /// Elements of a filter.
    filter: usize,
    positions: usize,
    /// Elements of the group's channels of a sample.
    input: usize,
    /// Elements of the group's output of a sample.
    output: usize,
}

impl Group {
    fn of(conv: &Convolution) -> Self {
        let (in_channels, out_channels) = (conv.in_channels / conv.groups, conv.out_channels / conv.groups);
        let positions = conv.volume.positions();
        let (input, output) = (in_channels * conv.volume.len(), out_channels * positions);
        Self { out_channels, filter: in_channels * conv.volume.taps(), positions, input, output }
    }

    /// Elements of its filters.
    fn filters(&self) -> usize {
        self.out_channels * self.filter
    }

    /// Positions whose patches are packed together.
    fn tile<C>(&self) -> usize {
        let tile = TILE_BYTES / (self.filter * size_of::<C>()).max(1);
        tile.max(POSITIONS).min(self.positions)
    }

    /// The tiles: their positions.
    fn tiles<C>(&self) -> impl Iterator<Item = Range<usize>> + use<C> {
        let (positions, step) = (self.positions, self.tile::<C>());
        (0..positions).step_by(step).map(move |start| start..positions.min(start + step))
    }
}

impl Convolution {
    fn assert_lengths(&self, input: usize, filters: usize, out: usize) {
        let group = Group::of(self);
        assert_eq!(input, self.batch * self.groups * group.input);
        assert_eq!(filters, self.groups * group.filters());
        assert_eq!(out, self.batch * self.groups * group.output);
    }

    /// Whether the groups have one input channel each.
    fn is_depthwise(&self) -> bool {
        self.in_channels == self.groups
    }

    /// The channels from number `first` on, of groups that have one each.
    fn channels(&self, first: usize) -> Channels<'_> {
        let (volume, groups) = (&self.volume, self.groups);
        Channels { volume, filters: self.out_channels / groups, groups, first }
    }
}

/// A group that is convolved with one sample.
struct OfGroup<'a, T> {
    conv: &'a Convolution,
    group: Group,
    /// The group's filters.
    filters: &'a [T],
}

/// Calls `f` with the number, the input and the output of each group of each sample. Several cores share them.
fn for_each_group<A: Sync, B: Send>(
    cores: Cores,
    (inputs, input_len): (&[A], usize),
    (outputs, output_len): (&mut [B], usize),
    f: impl Fn(usize, &[A], &mut [B]) + Sync,
) {
    if cores == Cores::Pool {
        let groups = inputs.par_chunks_exact(input_len).zip(outputs.par_chunks_exact_mut(output_len));
        groups.enumerate().for_each(|(index, (input, output))| f(index, input, output));
    } else {
        let groups = inputs.chunks_exact(input_len).zip(outputs.chunks_exact_mut(output_len));
        groups.enumerate().for_each(|(index, (input, output))| f(index, input, output));
    }
}

/// `out[n, f, p] = sum over i and taps t of filters[f, i, t] * input[n, first channel of f's group + i, p * stride + t * dilation - padding]`.
/// Several cores share the samples and the groups.
pub(crate) fn forward<T: Real>(cores: Cores, conv: &Convolution, input: &[T], filters: &[T], out: &mut [T]) {
    conv.assert_lengths(input.len(), filters.len(), out.len());
    if out.is_empty() {
        return;
    }
    if input.is_empty() || filters.is_empty() {
        out.fill(T::ZERO);
        return;
    }
    let group = Group::of(conv);
    if conv.is_depthwise() {
        let lens = [group.output, group.input.max(group.output)];
        return share_rows(cores, lens, out, |channels, out| {
            let input = &input[channels.start * group.input..channels.end * group.input];
            depthwise::forward(conv.channels(channels.start), input, filters, out);
        });
    }
    let direct = InGroups::of::<T>(conv);
    if direct.is_some_and(|direct| direct.forward(cores, [input, filters], out).is_some()) {
        return;
    }
    for_each_group(cores, (input, group.input), (out, group.output), |index, channels, out| {
        let filters = &filters[index % conv.groups * group.filters()..][..group.filters()];
        dispatch(Forward { of: OfGroup { conv, group, filters }, channels, out });
    });
}

/// [`forward`] of one group of one sample.
struct Forward<'a, T> {
    of: OfGroup<'a, T>,
    channels: &'a [T],
    out: &'a mut [T],
}

impl<T: Real> Vectorised for Forward<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { of: OfGroup { conv, group, filters }, channels, out } = self;
        let tile = group.tile::<T::Compute>();
        let lengths = [
            widened_len::<T>(filters.len()),
            group.filter * tile,
            widened_len::<T>(group.out_channels * tile),
        ];
        with_scratch(lengths, |[wide_filters, patches, wide_out]: [&mut [T::Compute]; 3]| {
            let filters = matrix(in_compute(filters, wide_filters), [group.out_channels, group.filter]);
            for covered in group.tiles::<T::Compute>() {
                let patches = &mut patches[..group.filter * covered.len()];
                pack(&conv.volume, channels, covered.clone(), patches);
                let patches = matrix(patches, [group.filter, covered.len()]);
                if computes_in_itself::<T>() {
                    let mut sums =
                        matrix_mut(cast_slice_mut(&mut *out), [group.out_channels, group.positions]);
                    product(filters, patches, sums.slice_mut(s![.., covered]), false);
                } else {
                    let sums = &mut wide_out[..group.out_channels * covered.len()];
                    product(filters, patches, matrix_mut(sums, [group.out_channels, covered.len()]), false);
                    let outs = out.chunks_exact_mut(group.positions);
                    for (sums, out) in sums.chunks_exact(covered.len()).zip(outs) {
                        T::narrow_slice(sums, &mut out[covered.clone()]);
                    }
                }
            }
        });
    }
}

/// The gradient by the input. Several cores share the samples and the groups.
pub(crate) fn backward_input<T: Real>(
    cores: Cores,
    conv: &Convolution,
    gradient: &[T],
    filters: &[T],
    input_gradient: &mut [T],
) {
    conv.assert_lengths(input_gradient.len(), filters.len(), gradient.len());
    if gradient.is_empty() || input_gradient.is_empty() || filters.is_empty() {
        input_gradient.fill(T::ZERO);
        return;
    }
    let group = Group::of(conv);
    if conv.is_depthwise() {
        let lens = [group.input, group.input.max(group.output)];
        return share_rows(cores, lens, input_gradient, |channels, out| {
            let gradient = &gradient[channels.start * group.output..channels.end * group.output];
            depthwise::backward_input(conv.channels(channels.start), gradient, filters, out);
        });
    }
    let direct = InGroups::of::<T>(conv);
    if direct
        .is_some_and(|direct| direct.backward_input(cores, [gradient, filters], input_gradient).is_some())
    {
        return;
    }
    let channels = (input_gradient, group.input);
    for_each_group(cores, (gradient, group.output), channels, |index, gradient, channels| {
        let filters = &filters[index % conv.groups * group.filters()..][..group.filters()];
        dispatch(BackwardInput { of: OfGroup { conv, group, filters }, gradient, channels });
    });
}

/// [`backward_input`] of one group of one sample.
struct BackwardInput<'a, T> {
    of: OfGroup<'a, T>,
    gradient: &'a [T],
    channels: &'a mut [T],
}

impl<T: Real> Vectorised for BackwardInput<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { of: OfGroup { conv, group, filters }, gradient, channels } = self;
        let tile = group.tile::<T::Compute>();
        let lengths = [
            widened_len::<T>(filters.len()),
            group.filter * tile,
            widened_len::<T>(group.out_channels * tile),
            widened_len::<T>(group.input),
        ];
        with_scratch(lengths, |[wide_filters, patches, wide_gradient, wide]: [&mut [T::Compute]; 4]| {
            let filters = in_compute(filters, wide_filters);
            let in_place = computes_in_itself::<T>();
            let sums: &mut [T::Compute] = if in_place { cast_slice_mut(&mut *channels) } else { &mut *wide };
            sums.fill(T::Compute::ZERO);
            let filters = matrix(filters, [group.out_channels, group.filter]).reversed_axes();
            for covered in group.tiles::<T::Compute>() {
                let patches = &mut patches[..group.filter * covered.len()];
                let gradient = Tile { gradient, group, covered: covered.clone() };
                let shape = [group.filter, covered.len()];
                gradient.with(wide_gradient, |gradient| {
                    product(filters, gradient, matrix_mut(patches, shape), false);
                });
                unpack_add(&conv.volume, patches, covered, sums);
            }
            if !in_place {
                T::narrow_slice(wide, channels);
            }
        });
    }
}

/// The gradient by the filters, added to `filters_gradient` (in the compute type). Several cores share the groups, and the
/// filters of one.
pub(crate) fn backward_filters<T: Real>(
    cores: Cores,
    conv: &Convolution,
    input: &[T],
    gradient: &[T],
    filters_gradient: &mut [T::Compute],
) {
    conv.assert_lengths(input.len(), filters_gradient.len(), gradient.len());
    if gradient.is_empty() || input.is_empty() || filters_gradient.is_empty() {
        return;
    }
    // The gradients of some samples are added one by one, and then their sums pairwise.
    let (len, parts, group) = (filters_gradient.len(), conv.batch.div_ceil(SAMPLES), Group::of(conv));
    let direct = InGroups::of::<T>(conv);
    with_scratch([parts * len], |[sums]: [&mut [T::Compute]; 1]| {
        let add = |(index, sums): (usize, &mut [T::Compute])| {
            let (part, number) = (index / conv.groups, index % conv.groups);
            let samples = part * SAMPLES..conv.batch.min((part + 1) * SAMPLES);
            sums.fill(T::Compute::ZERO);
            let all = samples.start * conv.groups..samples.end * conv.groups;
            let inputs = &input[all.start * group.input..all.end * group.input];
            let gradients = &gradient[all.start * group.output..all.end * group.output];
            if conv.is_depthwise() {
                let samples = Samples {
                    input: &inputs[number * group.input..],
                    gradient: &gradients[number * group.output..],
                    groups: conv.groups,
                };
                return depthwise::backward_filters(conv.channels(number), samples, sums);
            }
            // Gaps between lines and the border are multiplied by zeros, which are NaN with numbers that are not finite.
            let is_added = direct
                .is_some_and(|direct| direct.backward_filters(number, [inputs, gradients], sums).is_some());
            if is_added && is_finite(sums) {
                return;
            }
            sums.fill(T::Compute::ZERO);
            dispatch(AddFilters { cores, conv, group, number, samples, input, gradient, sums });
        };
        if cores == Cores::Pool {
            sums.par_chunks_exact_mut(group.filters()).enumerate().for_each(add);
        } else {
            sums.chunks_exact_mut(group.filters()).enumerate().for_each(add);
        }
        add_sums(sums, [1, parts, len], filters_gradient);
    });
}

/// [`backward_filters`] of one group, one sample after the other; `sums` are zero.
struct AddFilters<'a, T: Real> {
    cores: Cores,
    conv: &'a Convolution,
    group: Group,
    /// The number of the group.
    number: usize,
    samples: Range<usize>,
    /// All samples of all groups.
    input: &'a [T],
    gradient: &'a [T],
    sums: &'a mut [T::Compute],
}

impl<T: Real> Vectorised for AddFilters<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { cores, conv, group, number, samples, input, gradient, sums } = self;
        let tile = group.tile::<T::Compute>();
        let lengths = [group.filter * tile, widened_len::<T>(group.out_channels * tile)];
        with_scratch(lengths, |[patches, wide_gradient]: [&mut [T::Compute]; 2]| {
            for sample in samples {
                let index = sample * conv.groups + number;
                let channels = &input[index * group.input..][..group.input];
                let gradient = &gradient[index * group.output..][..group.output];
                for covered in group.tiles::<T::Compute>() {
                    let patches = &mut patches[..group.filter * covered.len()];
                    pack(&conv.volume, channels, covered.clone(), patches);
                    let patches = matrix(patches, [group.filter, covered.len()]).reversed_axes();
                    let sums = matrix_mut(&mut *sums, [group.out_channels, group.filter]);
                    Tile { gradient, group, covered }
                        .with(wide_gradient, |gradient| product_on(cores, gradient, patches, sums, true));
                }
            }
        });
    }
}

/// Some positions of the gradient of a group.
struct Tile<'a, T> {
    gradient: &'a [T],
    group: Group,
    covered: Range<usize>,
}

impl<T: Real> Tile<'_, T> {
    /// Calls `f` with them, `[out_channels, positions]`, in place or widened into `wide`.
    #[inline(always)]
    fn with(self, wide: &mut [T::Compute], f: impl FnOnce(ndarray::ArrayView2<'_, T::Compute>)) {
        let Self { gradient, group, covered } = self;
        if computes_in_itself::<T>() {
            let all = matrix(cast_slice(gradient), [group.out_channels, group.positions]);
            return f(all.slice(s![.., covered]));
        }
        let wide = &mut wide[..group.out_channels * covered.len()];
        for (wide, gradient) in
            wide.chunks_exact_mut(covered.len()).zip(gradient.chunks_exact(group.positions))
        {
            T::widen_slice(&gradient[covered.clone()], wide);
        }
        f(matrix(wide, [group.out_channels, covered.len()]));
    }
}

#[cfg(test)]
mod tests;
