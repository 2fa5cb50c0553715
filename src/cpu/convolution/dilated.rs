//! [`Dilated`]: images with dilations and strides of one, as undilated images.
//!
//! Positions whose numbers have the same remainder by the dilation read elements with that remainder alone (Holschneider,
//! Kronland-Martinet, Morlet and Tchamitchian 1990, *A real-time algorithm for signal analysis with the help of the wavelet
//! transform*). So an image, with its padding, is divided into *phases*, each of which is convolved without a dilation, as an
//! image of its own. The last positions of some phases are past the output, and not used.

use std::ops::Range;

use dahl_core::{Element, Real};

use super::Convolution;
use super::in_groups::{InGroups, share_images};
use crate::cpu::gemm::Cores;
use crate::cpu::scratch::with_scratch;
use crate::cpu::volume::{Slide, Volume};

/// About how many bytes of phases there are at a time.
const BYTES: usize = 4 << 20;

/// A convolution of the phases of images.
#[derive(Clone, Copy)]
pub(super) struct Dilated {
    /// That of the phases of all channels.
    phases: InGroups,
    /// That of one group.
    of_group: InGroups,
    groups: usize,
    input: Phases,
    output: Phases,
}

impl Dilated {
    /// That of elements of type `T`, if there is one.
    pub(super) fn of<T: Element>(conv: &Convolution) -> Option<Self> {
        let [depth, rows, columns] = conv.volume.0;
        let axes = [rows, columns];
        if axes.iter().any(|axis| axis.stride > 1) || axes.iter().all(|axis| axis.dilation == 1) {
            return None;
        }
        let padded = |axis: Slide| (axis.extent + 2 * axis.padding).div_ceil(axis.dilation);
        let undilated = |axis: Slide| Slide { extent: padded(axis), padding: 0, dilation: 1, ..axis };
        let volume = Volume([depth, undilated(rows), undilated(columns)]);
        let phases = Convolution { volume, ..*conv };
        let group = Convolution {
            in_channels: conv.in_channels / conv.groups,
            out_channels: conv.out_channels / conv.groups,
            groups: 1,
            ..phases
        };
        let dilation = axes.map(|axis| axis.dilation);
        Some(Self {
            phases: InGroups::of::<T>(&phases)?,
            of_group: InGroups::of::<T>(&group)?,
            groups: conv.groups,
            input: Phases {
                extents: axes.map(|axis| axis.extent),
                padding: axes.map(|axis| axis.padding),
                dilation,
                phase: axes.map(padded),
                channels: conv.in_channels,
            },
            output: Phases {
                extents: axes.map(|axis| axis.positions()),
                padding: [0; 2],
                dilation,
                phase: axes.map(|axis| undilated(axis).positions()),
                channels: conv.out_channels,
            },
        })
    }

    /// Images whose phases are there at a time.
    fn at_once<T>(&self, images: usize) -> usize {
        let of_image = (self.input.phases_len() + self.output.phases_len()) * size_of::<T>();
        (BYTES / of_image.max(1)).clamp(1, images.max(1))
    }

    /// Convolves the phases of images: `f` gets those of `from`, and writes those of `to`.
    fn convolve<T: Real>(
        &self,
        cores: Cores,
        (from, of): (&[T], Phases),
        (to, into): (&mut [T], Phases),
        f: impl Fn(&[T], &mut [T]) -> Option<()> + Sync,
    ) -> Option<()> {
        share_images(cores, (from, of.len()), (to, into.len()), |from, to| {
            let at_once = self.at_once::<T>(to.len() / into.len());
            let lengths = [at_once * of.phases_len(), at_once * into.phases_len()];
            with_scratch(lengths, |[phases, results]: [&mut [T]; 2]| {
                let images = from.chunks(at_once * of.len()).zip(to.chunks_mut(at_once * into.len()));
                images.into_iter().try_for_each(|(from, to)| {
                    let count = to.len() / into.len();
                    let (phases, results) =
                        (&mut phases[..count * of.phases_len()], &mut results[..count * into.phases_len()]);
                    of.divide(from, phases);
                    f(phases, results)?;
                    into.join(results, to);
                    Some(())
                })
            })
        })
    }

    /// The outputs. Several cores share the images.
    pub(super) fn forward<T: Real>(
        self,
        cores: Cores,
        input: &[T],
        filters: &[T],
        out: &mut [T],
    ) -> Option<()> {
        self.convolve(cores, (input, self.input), (out, self.output), |input, out| {
            self.phases.forward(Cores::One, input, filters, out)
        })
    }

    /// The gradient by the input. Several cores share the images.
    pub(super) fn backward_input<T: Real>(
        self,
        cores: Cores,
        gradient: &[T],
        filters: &[T],
        input_gradient: &mut [T],
    ) -> Option<()> {
        self.convolve(cores, (gradient, self.output), (input_gradient, self.input), |gradient, out| {
            self.phases.backward_input(Cores::One, gradient, filters, out)
        })
    }

    /// Adds the gradient by the filters of group number `group` to `sums`.
    pub(super) fn backward_filters<T: Real>(
        self,
        group: usize,
        [input, gradient]: [&[T]; 2],
        sums: &mut [T::Compute],
    ) -> Option<()> {
        let [of_input, of_output] = [self.input, self.output]
            .map(|phases| Phases { channels: phases.channels / self.groups, ..phases });
        let lengths = [of_input.phases_len(), of_output.phases_len()];
        with_scratch(lengths, |[inputs, gradients]: [&mut [T]; 2]| {
            let images = input.chunks_exact(self.input.len()).zip(gradient.chunks_exact(self.output.len()));
            for (input, gradient) in images {
                of_input.divide(&input[group * of_input.len()..][..of_input.len()], inputs);
                of_output.divide(&gradient[group * of_output.len()..][..of_output.len()], gradients);
                self.of_group.backward_filters(0, [&*inputs, &*gradients], sums)?;
            }
            Some(())
        })
    }
}

/// How an image is divided: `[channels, rows, columns]` becomes `[phases, channels, rows, columns]`.
#[derive(Clone, Copy, Debug)]
struct Phases {
    channels: usize,
    extents: [usize; 2],
    padding: [usize; 2],
    dilation: [usize; 2],
    /// The extents of a phase.
    phase: [usize; 2],
}

impl Phases {
    /// Elements of an image.
    fn len(&self) -> usize {
        self.channels * self.extents[0] * self.extents[1]
    }

    /// Elements of its phases.
    fn phases_len(&self) -> usize {
        self.channels * self.phase[0] * self.phase[1] * self.dilation[0] * self.dilation[1]
    }

    /// Along an axis, the elements of a phase that are not padding, and the index of the first of them.
    fn inside(&self, axis: usize, phase: usize) -> (Range<usize>, usize) {
        let (dilation, padding) = (self.dilation[axis], self.padding[axis]);
        let first = padding.saturating_sub(phase).div_ceil(dilation).min(self.phase[axis]);
        let end = (self.extents[axis] + padding).saturating_sub(phase).div_ceil(dilation);
        let end = end.clamp(first, self.phase[axis]);
        (first..end, (first * dilation + phase).saturating_sub(padding))
    }

    /// Calls `f` for each line of each phase of each channel of an image: with the index of its first element that is not
    /// padding, that element's number in the phases, and how many follow.
    fn each_line(&self, mut f: impl FnMut(usize, usize, usize)) {
        let [rows, columns] = self.phase;
        for phase in 0..self.dilation[0] * self.dilation[1] {
            let (inside_rows, first_row) = self.inside(0, phase / self.dilation[1]);
            let (inside, first) = self.inside(1, phase % self.dilation[1]);
            if inside.is_empty() {
                continue;
            }
            for channel in 0..self.channels {
                let of_phase = (phase * self.channels + channel) * rows * columns + inside.start;
                let of_image = channel * self.extents[0] * self.extents[1] + first;
                for (number, row) in inside_rows.clone().enumerate() {
                    let line = first_row + number * self.dilation[0];
                    f(of_image + line * self.extents[1], of_phase + row * columns, inside.len());
                }
            }
        }
    }

    /// Writes the phases of images; zeros where they have padding.
    fn divide<T: Element>(&self, images: &[T], phases: &mut [T]) {
        phases.fill(T::ZERO);
        let step = self.dilation[1];
        for (image, phases) in images.chunks_exact(self.len()).zip(phases.chunks_exact_mut(self.phases_len()))
        {
            self.each_line(|from, to, count| {
                let line = &mut phases[to..][..count];
                line.iter_mut().zip(image[from..].iter().step_by(step)).for_each(|(to, from)| *to = *from);
            });
        }
    }

    /// Writes images whose phases are given, without padding: each element is in one phase.
    fn join<T: Element>(&self, phases: &[T], images: &mut [T]) {
        let step = self.dilation[1];
        for (image, phases) in images.chunks_exact_mut(self.len()).zip(phases.chunks_exact(self.phases_len()))
        {
            self.each_line(|to, from, count| {
                let line = &phases[from..][..count];
                image[to..].iter_mut().step_by(step).zip(line).for_each(|(to, from)| *to = *from);
            });
        }
    }
}
