//! Convolutions of one input channel with some filters: those of groups with one input channel, as of depthwise
//! convolutions.
//!
//! In vectors ([`vectors`]) of types that have them. Line by line ([`lines`]) for other types, and where a border of zeros
//! would change numbers that are not finite. Which of the two depends on the filters alone, or on one filter's gradient,
//! so the bits do not depend on how channels are shared.
//!
//! `channel: [volume]`, `filters: [filters, taps]`, outputs and their gradients `[filters, positions]`.

mod lines;
mod polyphase;
mod vectors;

use bytemuck::{cast_slice, cast_slice_mut};
use dahl_core::simd::{Vectorised, dispatch};
use dahl_core::{Element, ElementType, Real};

use super::compute::{computes_in_itself, in_compute, widened_len};
use super::conv2d::is_finite;
use super::lanes::{Lanes, MOST_LANES, in_lanes, in_vectors};
use super::scratch::with_scratch;
use super::volume::Volume;

use polyphase::{Line, Polyphase, Shift};
use vectors::{AddLanes, BEYOND, BackwardFilters, BackwardInput, Forward, spread_len, sums_len};

/// Channels that are convolved, each with its filters.
#[derive(Clone, Copy)]
pub(super) struct Channels<'a> {
    pub(super) volume: &'a Volume,
    /// The filters of a channel.
    pub(super) filters: usize,
    /// The channels of a sample, after which the filters repeat.
    pub(super) groups: usize,
    /// The number of the first channel.
    pub(super) first: usize,
}

impl Channels<'_> {
    /// Elements of a channel's filters.
    fn filters_len(&self) -> usize {
        self.filters * self.volume.taps()
    }

    /// Elements of a channel's outputs.
    fn output_len(&self) -> usize {
        self.filters * self.volume.positions()
    }

    /// The filters of each channel, of all filters.
    fn each_filters<'f, T>(&self, filters: &'f [T]) -> impl Iterator<Item = &'f [T]> + use<'f, T> {
        filters.chunks_exact(self.filters_len()).cycle().skip(self.first % self.groups)
    }
}

/// The outputs of some channels; `filters` are those of all groups.
pub(super) fn forward<T: Real>(channels: Channels<'_>, input: &[T], filters: &[T], out: &mut [T]) {
    let bytes = [cast_slice(input), cast_slice(filters)];
    if forward_in_vectors(ElementType::of::<T>(), channels, bytes, cast_slice_mut(out)).is_none() {
        dispatch(LinesForward { channels, input, filters, out });
    }
}

/// [`forward`] line by line.
struct LinesForward<'a, T> {
    channels: Channels<'a>,
    input: &'a [T],
    filters: &'a [T],
    out: &'a mut [T],
}

impl<T: Real> Vectorised for LinesForward<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { channels, input, filters, out } = self;
        let each = input.chunks_exact(channels.volume.len()).zip(channels.each_filters(filters));
        for ((channel, filters), out) in each.zip(out.chunks_exact_mut(channels.output_len())) {
            lines::forward(channels.volume, channel, filters, out);
        }
    }
}

/// The gradients by some channels; `filters` are those of all groups.
pub(super) fn backward_input<T: Real>(
    channels: Channels<'_>,
    gradient: &[T],
    filters: &[T],
    input_gradient: &mut [T],
) {
    // Filters are multiplied with zeros around the gradient.
    let bytes = [cast_slice(gradient), cast_slice(filters)];
    let element = ElementType::of::<T>();
    if !is_finite(filters)
        || backward_input_in_vectors(element, channels, bytes, cast_slice_mut(input_gradient)).is_none()
    {
        dispatch(LinesBackwardInput { channels, gradient, filters, input_gradient });
    }
}

/// [`backward_input`] line by line.
struct LinesBackwardInput<'a, T> {
    channels: Channels<'a>,
    gradient: &'a [T],
    filters: &'a [T],
    input_gradient: &'a mut [T],
}

impl<T: Real> Vectorised for LinesBackwardInput<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { channels, gradient, filters, input_gradient } = self;
        let lengths = [widened_len::<T>(channels.filters_len()), widened_len::<T>(channels.volume.len())];
        with_scratch(lengths, |[wide_filters, wide]: [&mut [T::Compute]; 2]| {
            let each = gradient.chunks_exact(channels.output_len()).zip(channels.each_filters(filters));
            for ((gradient, filters), out) in each.zip(input_gradient.chunks_exact_mut(channels.volume.len()))
            {
                let filters = in_compute(filters, wide_filters);
                let in_place = computes_in_itself::<T>();
                let sums: &mut [T::Compute] = if in_place { cast_slice_mut(&mut *out) } else { &mut *wide };
                sums.fill(T::Compute::ZERO);
                lines::backward_input(channels.volume, gradient, filters, sums);
                if !in_place {
                    T::narrow_slice(wide, out);
                }
            }
        });
    }
}

/// The inputs and the gradients of one channel in some samples: each of `samples` has both at `index * len`.
#[derive(Clone, Copy)]
pub(super) struct Samples<'a, T> {
    pub(super) input: &'a [T],
    pub(super) gradient: &'a [T],
    /// How many channels are between those of two samples.
    pub(super) groups: usize,
}

impl<'a, T> Samples<'a, T> {
    /// The channel and the gradient by its outputs, in each sample.
    fn each(&self, channels: &Channels<'_>) -> impl Iterator<Item = (&'a [T], &'a [T])> + use<'a, T> {
        let (channel, output) = (channels.volume.len(), channels.output_len());
        let inputs = self.input.chunks(self.groups * channel).map(move |sample| &sample[..channel]);
        let gradients = self.gradient.chunks(self.groups * output).map(move |sample| &sample[..output]);
        inputs.zip(gradients)
    }
}

/// Adds the gradients by the filters of one channel to `sums`, which are zero, one sample after the other.
pub(super) fn backward_filters<T: Real>(
    channels: Channels<'_>,
    samples: Samples<'_, T>,
    sums: &mut [T::Compute],
) {
    let bytes = Samples::<u8> {
        input: cast_slice(samples.input),
        gradient: cast_slice(samples.gradient),
        groups: samples.groups,
    };
    let element = ElementType::of::<T>();
    let is_added = backward_filters_in_vectors(element, channels, bytes, cast_slice_mut(sums)).is_some();
    // Zeros between the lines of the gradient are multiplied too: then all sums are NaN, or none is.
    if !is_added || !is_finite(sums) {
        sums.fill(T::Compute::ZERO);
        dispatch(LinesBackwardFilters { channels, samples, sums });
    }
}

/// [`backward_filters`] line by line.
struct LinesBackwardFilters<'a, T: Real> {
    channels: Channels<'a>,
    samples: Samples<'a, T>,
    sums: &'a mut [T::Compute],
}

impl<T: Real> Vectorised for LinesBackwardFilters<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { channels, samples, sums } = self;
        for (channel, gradient) in samples.each(&channels) {
            lines::backward_filters(channels.volume, channel, gradient, sums);
        }
    }
}

/// Calls `f` with the lines of the components of a channel, what each tap reads, and a buffer for as many indices as are
/// asked for.
fn with_indices<R>(
    layout: &Polyphase,
    indices: usize,
    f: impl FnOnce(&[Line], &[Shift], &mut [usize]) -> R,
) -> R {
    with_scratch([layout.components() * layout.lines()], |[lines]: [&mut [Line]; 1]| {
        lines.iter_mut().zip(layout.each_line()).for_each(|(to, line)| *to = line);
        with_scratch([layout.taps()], |[shifts]: [&mut [Shift]; 1]| {
            shifts.iter_mut().zip(layout.shifts()).for_each(|(to, shift)| *to = shift);
            with_scratch([indices], |[indices]: [&mut [usize]; 1]| f(lines, shifts, indices))
        })
    })
}

/// [`forward`] of an element type that has vectors. Not generic, so that the loops are compiled only in this crate.
fn forward_in_vectors(
    element: ElementType,
    channels: Channels<'_>,
    [input, filters]: [&[u8]; 2],
    out: &mut [u8],
) -> Option<()> {
    in_lanes!(element, U => {
        forward_in_lanes::<U>(channels, [cast_slice(input), cast_slice(filters)], cast_slice_mut(out));
    })
}

fn forward_in_lanes<T: Real<Compute: Lanes>>(
    channels: Channels<'_>,
    [input, filters]: [&[T]; 2],
    out: &mut [T],
) {
    let layout = &Polyphase::of(channels.volume);
    let (channel_len, output_len) = (channels.volume.len(), channels.output_len());
    let lengths = [
        layout.len() + BEYOND,
        sums_len(layout),
        widened_len::<T>(channel_len),
        widened_len::<T>(channels.filters_len()),
        widened_len::<T>(output_len),
    ];
    with_indices(layout, layout.taps(), |lines, shifts, starts| {
        with_scratch(lengths, |buffers: [&mut [T::Compute]; 5]| {
            let [components, sums, wide_channel, wide_filters, wide_out] = buffers;
            components.fill(T::Compute::ZERO);
            let each = input.chunks_exact(channel_len).zip(channels.each_filters(filters));
            for ((channel, filters), out) in each.zip(out.chunks_exact_mut(output_len)) {
                let in_place = computes_in_itself::<T>();
                in_vectors(Forward {
                    layout,
                    lines,
                    shifts,
                    channel: in_compute(channel, wide_channel),
                    filters: in_compute(filters, wide_filters),
                    components: &mut *components,
                    sums: &mut *sums,
                    starts: &mut *starts,
                    out: if in_place { cast_slice_mut(&mut *out) } else { &mut *wide_out },
                });
                if !in_place {
                    T::narrow_slice(wide_out, out);
                }
            }
        });
    });
}

/// [`backward_input`] of an element type that has vectors.
fn backward_input_in_vectors(
    element: ElementType,
    channels: Channels<'_>,
    [gradient, filters]: [&[u8]; 2],
    out: &mut [u8],
) -> Option<()> {
    in_lanes!(element, U => {
        let inputs = [cast_slice(gradient), cast_slice(filters)];
        backward_input_in_lanes::<U>(channels, inputs, cast_slice_mut(out));
    })
}

fn backward_input_in_lanes<T: Real<Compute: Lanes>>(
    channels: Channels<'_>,
    [gradient, filters]: [&[T]; 2],
    out: &mut [T],
) {
    let layout = &Polyphase::of(channels.volume);
    let (channel_len, output_len) = (channels.volume.len(), channels.output_len());
    let lengths = [
        channels.filters * spread_len(layout),
        sums_len(layout),
        channels.filters_len(),
        widened_len::<T>(output_len),
        widened_len::<T>(channels.filters_len()),
        widened_len::<T>(channel_len),
    ];
    with_indices(layout, channels.filters_len(), |lines, shifts, starts| {
        with_scratch(lengths, |buffers: [&mut [T::Compute]; 6]| {
            let [spread, sums, factors, wide_gradient, wide_filters, wide_out] = buffers;
            spread.fill(T::Compute::ZERO);
            let each = gradient.chunks_exact(output_len).zip(channels.each_filters(filters));
            for ((gradient, filters), out) in each.zip(out.chunks_exact_mut(channel_len)) {
                let in_place = computes_in_itself::<T>();
                in_vectors(BackwardInput {
                    layout,
                    lines,
                    shifts,
                    gradient: in_compute(gradient, wide_gradient),
                    filters: in_compute(filters, wide_filters),
                    spread: &mut *spread,
                    sums: &mut *sums,
                    starts: &mut *starts,
                    factors: &mut *factors,
                    out: if in_place { cast_slice_mut(&mut *out) } else { &mut *wide_out },
                });
                if !in_place {
                    T::narrow_slice(wide_out, out);
                }
            }
        });
    });
}

/// [`backward_filters`] of an element type that has vectors.
fn backward_filters_in_vectors(
    element: ElementType,
    channels: Channels<'_>,
    samples: Samples<'_, u8>,
    sums: &mut [u8],
) -> Option<()> {
    in_lanes!(element, U => {
        let samples = Samples::<U> {
            input: cast_slice(samples.input),
            gradient: cast_slice(samples.gradient),
            groups: samples.groups,
        };
        backward_filters_in_lanes(channels, samples, cast_slice_mut(sums));
    })
}

fn backward_filters_in_lanes<T: Real<Compute: Lanes>>(
    channels: Channels<'_>,
    samples: Samples<'_, T>,
    sums: &mut [T::Compute],
) {
    let layout = &Polyphase::of(channels.volume);
    let lengths = [
        layout.len() + BEYOND,
        layout.span().next_multiple_of(MOST_LANES),
        sums.len() * MOST_LANES,
        widened_len::<T>(channels.volume.len()),
        widened_len::<T>(channels.output_len()),
    ];
    with_indices(layout, 0, |lines, shifts, _| {
        with_scratch(lengths, |buffers: [&mut [T::Compute]; 5]| {
            let [components, spread, totals, wide_channel, wide_gradient] = buffers;
            [&mut *components, &mut *spread, &mut *totals]
                .into_iter()
                .for_each(|all| all.fill(T::Compute::ZERO));
            for (channel, gradient) in samples.each(&channels) {
                in_vectors(BackwardFilters {
                    layout,
                    lines,
                    shifts,
                    channel: in_compute(channel, wide_channel),
                    gradient: in_compute(gradient, wide_gradient),
                    components: &mut *components,
                    spread: &mut *spread,
                    sums: &mut *totals,
                });
            }
            in_vectors(AddLanes { sums: totals, out: sums });
        });
    });
}
