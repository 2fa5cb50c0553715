//! [`FilterVectors`]: the sums of [`convolve`](super::convolve()) with a filter in each lane, for many filters.
//!
//! The load of a vector of positions mostly crosses a cache line. That of a vector of filters does not: they are
//! packed. One element of the image, broadcast to all lanes, multiplies them. That element belongs to as many
//! neighbouring sums as a row of the kernel has taps, so one load serves up to three multiplications with each vector
//! of filters. The sums of some neighbouring positions stay in registers over all channels and taps. Those of some more
//! positions stay in the L1 cache until they are transposed into rows of positions, the form that the
//! [`Epilogue`](super::Epilogue) takes.
//!
//! With only 16 registers, filters of three taps do not fit beside the sums, so the loop takes one tap at a time.
//!
//! A sum adds the same products in the same order as with positions in lanes, so its bits are the same.
//!
//! Elements may be [pairs](super::bf16_dot) of `bf16`. Then only the multiplication differs ([`Multiply`]).

mod add_up;
mod blocks;
mod multiply;
mod products;
mod row;
mod to_filters;

use dahl_core::{Element, Real};

use super::convolve::Sums;
use super::filters::{Filters, Order};
use super::plane::Plane;
use crate::cpu::bf16_dot::Pair;
use crate::cpu::lanes::{Lanes, MOST_LANES, in_vectors, vector_bytes};
use crate::cpu::prefetch::Prefetch;

use add_up::AddUp;
pub(super) use multiply::{Bf16Dot, Singles, in_bf16_dot_vectors};
pub(super) use products::Products;

/// The most vectors of filters whose sums are in registers at a time.
const MOST_VECTORS: usize = 2;

/// Neighbouring positions whose sums are buffered before they are transposed.
const POSITIONS: usize = 96;

/// The most taps of a row of the kernel whose filters are kept in registers.
const MOST_TAPS: usize = 3;

/// The least number of products of a sum for which transposing pays.
const LEAST_PRODUCTS: usize = 64;

/// The most bytes of the sums of a group. An epilogue takes whole planes, so groups of fewer filters need less memory.
const MOST_BYTES: usize = 16 << 20;

/// Whether vectors of so many bytes hold filters: those of AVX-512 and AVX2.
const fn are_wide(bytes: usize) -> bool {
    bytes >= 32
}

/// Filters in groups of two vectors: for each channel and tap, those of a group lie side by side. The last group may
/// have one vector, and unused lanes.
#[derive(Clone, Copy, Debug)]
pub(super) struct FilterVectors {
    shape: Filters,
    lanes: usize,
}

/// Filters whose sums are computed together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    /// The number of the first one.
    pub(super) begin: usize,
    /// How many there are.
    pub(super) size: usize,
    /// How many vectors they take.
    vectors: usize,
}

impl FilterVectors {
    /// For these filters, if the machine has enough registers and it pays.
    pub(super) fn new<C: Lanes>(shape: Filters) -> Option<Self> {
        Self::of_bytes::<C>(shape, vector_bytes())
    }

    /// The same with vectors of so many bytes.
    fn of_bytes<C: Lanes>(shape: Filters, bytes: usize) -> Option<Self> {
        if !are_wide(bytes) {
            return None;
        }
        let lanes = bytes / size_of::<C>();
        let is_filled = 4 * shape.out_channels >= 3 * shape.out_channels.next_multiple_of(lanes);
        let are_many = shape.out_channels > lanes && shape.in_channels * shape.taps >= LEAST_PRODUCTS;
        (are_many && is_filled).then_some(Self { shape, lanes })
    }

    /// Whether there are loops for a kernel with rows of this length, and memory for the sums.
    pub(super) fn makes_sums_of<C>(&self, plane: &Plane) -> bool {
        (matches!(plane.kernel[1], 1 | 3 | 5) || plane.dilation[1] > 1) && self.has_memory_for::<C>(plane)
    }

    /// Whether there is memory for the sums of a convolution. (Pairs have loops for every kernel.)
    pub(super) fn has_memory_for<C>(&self, plane: &Plane) -> bool {
        plane.positions().saturating_mul(self.at_once() * size_of::<C>()) <= MOST_BYTES
    }

    /// The same for so many filters.
    pub(super) fn with_filters(self, out_channels: usize) -> Self {
        Self { shape: Filters { out_channels, ..self.shape }, ..self }
    }

    /// Elements of the packed filters.
    pub(super) fn len(&self) -> usize {
        self.shape.out_channels.next_multiple_of(self.lanes) * self.shape.in_channels * self.shape.taps
    }

    /// The most filters of a group.
    pub(super) fn at_once(&self) -> usize {
        MOST_VECTORS * self.lanes
    }

    /// Elements of the buffer of sums that are not transposed yet.
    pub(super) fn by_position_len(&self) -> usize {
        // The last transposed square may be partly empty.
        (POSITIONS + MOST_LANES) * self.at_once()
    }

    pub(super) fn groups(self) -> impl Iterator<Item = Group> {
        (0..self.shape.out_channels).step_by(self.at_once()).map(move |begin| self.group(begin))
    }

    /// The group whose first filter has number `begin`.
    pub(super) fn group(&self, begin: usize) -> Group {
        let size = self.at_once().min(self.shape.out_channels - begin);
        Group { begin, size, vectors: size.div_ceil(self.lanes) }
    }

    /// Writes filters to `packed`, group by group; lanes without a filter are 0. Returns whether all are finite.
    pub(super) fn pack<T: Real>(&self, filters: &[T], order: Order, packed: &mut [T::Compute]) -> bool {
        let mut are_finite = true;
        self.pack_channels(packed, T::Compute::ZERO, |filter, channel, tap| {
            let filter = filters[self.shape.place(order, filter, channel, tap)];
            are_finite &= filter.is_finite();
            filter.widen()
        });
        are_finite
    }

    /// The same for the elements that `element` returns for a filter, a channel and a tap; unused lanes get `zero`.
    pub(super) fn pack_channels<E: Copy>(
        &self,
        packed: &mut [E],
        zero: E,
        mut element: impl FnMut(usize, usize, usize) -> E,
    ) {
        let mut packed = packed.iter_mut();
        for Group { begin, size, vectors } in self.groups() {
            for channel in 0..self.shape.in_channels {
                for tap in 0..self.shape.taps {
                    for lane in 0..vectors * self.lanes {
                        *packed.next().expect("as many as there are") =
                            if lane < size { element(begin + lane, channel, tap) } else { zero };
                    }
                }
            }
        }
    }

    /// Adds sums in the order of packed filters to sums in the order of filters.
    pub(super) fn add_to<C: Lanes>(&self, sums: &[C], filters: &mut [C]) {
        let mut sums = sums.iter();
        let of_filter = self.shape.in_channels * self.shape.taps;
        for Group { begin, size, vectors } in self.groups() {
            for tap in 0..of_filter {
                for (lane, &sum) in sums.by_ref().take(vectors * self.lanes).enumerate() {
                    if lane < size {
                        filters[(begin + lane) * of_filter + tap] += sum;
                    }
                }
            }
        }
    }

    /// Computes the sums of a group at all positions of the output; `packed` are the filters, and whether they are
    /// finite. Returns the distance of the rows of the output: that of positions, or without gaps.
    pub(super) fn add_up<C: Lanes>(
        &self,
        group: Group,
        (packed, are_finite): (&[C], bool),
        bias: Option<&[C]>,
        sums: Sums<'_, C, C>,
        by_position: (&mut [C], Prefetch<3>),
    ) -> usize {
        in_vectors(self.work(Singles, group, (packed, are_finite), bias, sums, by_position))
    }

    /// The same for pairs of channels, of which this has `in_channels`.
    pub(super) fn add_up_by_bf16_dot(
        &self,
        group: Group,
        packed: &[Pair],
        bias: Option<&[f32]>,
        Sums { plane, planes, sums, sums_len }: Sums<'_, Pair, f32>,
        by_position: (&mut [f32], Prefetch<3>),
    ) -> usize {
        // Pairs are passed as elements with the same bits.
        let sums = Sums { plane, planes: bytemuck::cast_slice(planes), sums, sums_len };
        let packed = bytemuck::cast_slice(packed);
        // Exact filters are finite.
        let (pairs, packed) = (Bf16Dot::new(), (packed, true));
        in_bf16_dot_vectors(pairs, self.work(pairs, group, packed, bias, sums, by_position))
    }

    fn work<'a, C: Lanes, M>(
        &self,
        multiply: M,
        Group { begin, size, vectors }: Group,
        (packed, are_finite): (&'a [C], bool),
        bias: Option<&[C]>,
        sums: Sums<'a, C, C>,
        (by_position, prefetch): (&'a mut [C], Prefetch<3>),
    ) -> AddUp<'a, C, M> {
        let of_filter = self.shape.in_channels * self.shape.taps;
        let mut initial = [C::ZERO; MOST_VECTORS * MOST_LANES];
        if let Some(bias) = bias {
            initial[..size].copy_from_slice(&bias[begin..][..size]);
        }
        let filters = &packed[begin * of_filter..][..vectors * self.lanes * of_filter];
        AddUp { multiply, filters, are_finite, vectors, initial, sums, prefetch, by_position, begin: 0 }
    }
}

#[cfg(test)]
mod tests;
