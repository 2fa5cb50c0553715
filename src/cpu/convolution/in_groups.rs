//! [`InGroups`]: images in groups, each of which is a [`direct`] convolution of some channels of the images: with strides of
//! one.

use bytemuck::{cast_slice, cast_slice_mut};
use dahl_core::rayon::prelude::*;
use dahl_core::{Element, ElementType, Real};

use super::Convolution;
use crate::cpu::conv2d::{images_at_once, is_finite};
use crate::cpu::direct::{self, Filters, Given, Images, Order, Plane, Write};
use crate::cpu::gemm::Cores;
use crate::cpu::lanes::in_lanes;

/// A convolution of images in groups, of an element type that has vectors; for other types its functions do nothing.
#[derive(Clone, Copy)]
pub(super) struct InGroups {
    element: ElementType,
    plane: Plane,
    /// The filters of a group.
    filters: Filters,
    groups: usize,
}

impl InGroups {
    /// That of elements of type `T`, if there is one.
    pub(super) fn of<T: Element>(conv: &Convolution) -> Option<Self> {
        let [depth, rows, columns] = conv.volume.0;
        let is_image = depth.extent == 1 && depth.kernel == 1 && depth.positions() == 1;
        let axes = [rows, columns];
        (is_image && axes.iter().all(|axis| axis.stride == 1)).then(|| Self {
            element: ElementType::of::<T>(),
            plane: Plane {
                image: axes.map(|axis| axis.extent),
                kernel: axes.map(|axis| axis.kernel),
                // That of a single tap has no effect.
                dilation: axes.map(|axis| if axis.kernel == 1 { 1 } else { axis.dilation }),
                padding: axes.map(|axis| axis.padding),
            },
            filters: Filters {
                out_channels: conv.out_channels / conv.groups,
                in_channels: conv.in_channels / conv.groups,
                taps: rows.kernel * columns.kernel,
            },
            groups: conv.groups,
        })
    }

    /// Elements of a group of an image, and of its output.
    fn lens(&self) -> [usize; 2] {
        let [rows, columns] = self.plane.image;
        let [out_rows, out_columns] = self.plane.output();
        [self.filters.in_channels * rows * columns, self.filters.out_channels * out_rows * out_columns]
    }

    /// The outputs. Several cores share the images.
    pub(super) fn forward<T: Real>(
        self,
        cores: Cores,
        [input, filters]: [&[T]; 2],
        out: &mut [T],
    ) -> Option<()> {
        let lens = self.lens().map(|len| len * self.groups);
        share_images(cores, (input, lens[0]), (out, lens[1]), |input, out| {
            self.forward_in_lanes([cast_slice(input), cast_slice(filters)], cast_slice_mut(out))
        })
    }

    fn forward_in_lanes(self, [input, filters]: [&[u8]; 2], out: &mut [u8]) -> Option<()> {
        in_lanes!(self.element, U => {
            let (input, filters, out) = (cast_slice::<_, U>(input), cast_slice::<_, U>(filters), cast_slice_mut::<_, U>(out));
            let ([len, out_len], of_group) = (self.lens(), self.filters.len());
            for group in 0..self.groups {
                let images = Images::of_groups(&input[group * len..], len, self.groups * len);
                let filters = (&filters[group * of_group..][..of_group], Order::Forward);
                let out_channels = self.groups * self.filters.out_channels;
                let write = Write { out: &mut out[group * out_len..], out_channels };
                direct::convolve(self.plane, self.filters, images, filters, None, write);
            }
        })
    }

    /// The gradient by the input, by a convolution of the gradient with the reversed filters. Several cores share the
    /// images.
    pub(super) fn backward_input<T: Real>(
        self,
        cores: Cores,
        [gradient, filters]: [&[T]; 2],
        input_gradient: &mut [T],
    ) -> Option<()> {
        let reversed = self.plane.reversed()?;
        // Filters are multiplied with the border of zeros. The product is not zero if an element of a filter is infinite.
        if !is_finite(filters) {
            return None;
        }
        let lens = self.lens().map(|len| len * self.groups);
        share_images(cores, (gradient, lens[1]), (input_gradient, lens[0]), |gradient, out| {
            let operands = [cast_slice(gradient), cast_slice(filters)];
            self.backward_input_in_lanes(reversed, operands, cast_slice_mut(out))
        })
    }

    fn backward_input_in_lanes(
        self,
        reversed: Plane,
        [gradient, filters]: [&[u8]; 2],
        out: &mut [u8],
    ) -> Option<()> {
        let Filters { out_channels, in_channels, taps } = self.filters;
        let back = Filters { out_channels: in_channels, in_channels: out_channels, taps };
        in_lanes!(self.element, U => {
            let (gradient, filters, out) =
                (cast_slice::<_, U>(gradient), cast_slice::<_, U>(filters), cast_slice_mut::<_, U>(out));
            let ([len, out_len], of_group) = (self.lens(), self.filters.len());
            for group in 0..self.groups {
                let images = Images::of_groups(&gradient[group * out_len..], out_len, self.groups * out_len);
                let filters = (&filters[group * of_group..][..of_group], Order::Reversed);
                let write = Write { out: &mut out[group * len..], out_channels: self.groups * in_channels };
                direct::convolve(reversed, back, images, filters, None, write);
            }
        })
    }

    /// Adds the gradient by the filters of group number `group` to `sums`.
    pub(super) fn backward_filters<T: Real>(
        self,
        group: usize,
        [input, gradient]: [&[T]; 2],
        sums: &mut [T::Compute],
    ) -> Option<()> {
        let operands = [cast_slice(input), cast_slice(gradient)];
        self.backward_filters_in_lanes(group, operands, cast_slice_mut(sums))
    }

    fn backward_filters_in_lanes(
        self,
        group: usize,
        [input, gradient]: [&[u8]; 2],
        sums: &mut [u8],
    ) -> Option<()> {
        in_lanes!(self.element, U => {
            let (input, gradient) = (cast_slice::<_, U>(input), cast_slice::<_, U>(gradient));
            let [len, out_len] = self.lens();
            let images = Images::of_groups(&input[group * len..], len, self.groups * len);
            let out_channels = self.groups * self.filters.out_channels;
            let gradient = Given { gradient: &gradient[group * out_len..], out_channels };
            direct::gradient(self.plane, self.filters, images, gradient, cast_slice_mut(sums));
        })
    }
}

/// Calls `f` with all images and outputs, or with parts of them that several cores share; none if it gives none.
fn share_images<A: Sync, B: Send>(
    cores: Cores,
    (inputs, input_len): (&[A], usize),
    (outputs, output_len): (&mut [B], usize),
    f: impl Fn(&[A], &mut [B]) -> Option<()> + Sync,
) -> Option<()> {
    if cores == Cores::One {
        return f(inputs, outputs);
    }
    let at_once = images_at_once(outputs.len() / output_len);
    let parts = inputs.par_chunks(at_once * input_len).zip(outputs.par_chunks_mut(at_once * output_len));
    parts.map(|(input, output)| f(input, output)).collect()
}
