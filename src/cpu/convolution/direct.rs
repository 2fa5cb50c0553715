//! [`Direct`]: convolutions that need no patches, and the choice among their ways.

use dahl_core::{Element, Real};

use super::Convolution;
use super::dilated::Dilated;
use super::in_groups::InGroups;
use crate::cpu::gemm::Cores;

/// A convolution without patches, of an element type that has vectors; for other types its functions give none.
#[derive(Clone, Copy)]
#[expect(clippy::large_enum_variant, reason = "one is made for a call, and stays on the stack")]
pub(super) enum Direct {
    InGroups(InGroups),
    Dilated(Dilated),
}

impl Direct {
    /// That of elements of type `T`, if there is one: of images with strides of one.
    pub(super) fn of<T: Element>(conv: &Convolution) -> Option<Self> {
        InGroups::of::<T>(conv).map(Self::InGroups).or_else(|| Dilated::of::<T>(conv).map(Self::Dilated))
    }

    /// The outputs. Several cores share the images.
    pub(super) fn forward<T: Real>(
        self,
        cores: Cores,
        [input, filters]: [&[T]; 2],
        out: &mut [T],
    ) -> Option<()> {
        match self {
            Self::InGroups(groups) => groups.forward(cores, input, filters, out),
            Self::Dilated(phases) => phases.forward(cores, input, filters, out),
        }
    }

    /// The gradient by the input. Several cores share the images.
    pub(super) fn backward_input<T: Real>(
        self,
        cores: Cores,
        [gradient, filters]: [&[T]; 2],
        input_gradient: &mut [T],
    ) -> Option<()> {
        match self {
            Self::InGroups(groups) => groups.backward_input(cores, gradient, filters, input_gradient),
            Self::Dilated(phases) => phases.backward_input(cores, gradient, filters, input_gradient),
        }
    }

    /// Adds the gradient by the filters of group number `group` to `sums`.
    pub(super) fn backward_filters<T: Real>(
        self,
        group: usize,
        inputs: [&[T]; 2],
        sums: &mut [T::Compute],
    ) -> Option<()> {
        match self {
            Self::InGroups(groups) => groups.backward_filters(group, inputs, sums),
            Self::Dilated(phases) => phases.backward_filters(group, inputs, sums),
        }
    }
}
