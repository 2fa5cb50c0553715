//! [`Sets`]: planes of `[batch, channels, plane]` that are normalised together, by their mean and their variance.
//!
//! Every sum is one over the elements of each plane ([`simd::sum`], [`sum_of`]), and then one over the planes of a set
//! ([`add_sums`]): the order depends on the shape alone, and the error grows with the logarithm of the number of
//! elements. Cores share planes.

use std::ops::Range;

use dahl_core::{Element, Real, simd};

use super::compute::computes_in_itself;
use super::gemm::Cores;
use super::row_major::add_sums;
use super::scratch::with_scratch;
use super::shared_rows::{share_rows, share_two};
use super::sum_of::{moments_around, sum_of_two};

/// Which planes of `[batch, channels, plane]` are normalised together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sets {
    pub(crate) batch: usize,
    pub(crate) channels: usize,
    /// Elements of a plane.
    pub(crate) plane: usize,
    pub(crate) over: Over,
}

/// What a set holds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Over {
    /// A channel of all samples.
    Batch,
    /// So many channels of a sample.
    Channels(usize),
}

/// Elements that are computed at a time where they are narrowed; they stay in the first-level cache.
const BLOCK: usize = 1024;

impl Sets {
    /// The sets of an array `[batch, channels, ..]`.
    pub(crate) fn of(shape: &[usize], over: Over) -> Self {
        Self { batch: shape[0], channels: shape[1], plane: shape[2..].iter().product(), over }
    }

    /// The number of sets.
    pub(crate) fn count(&self) -> usize {
        match self.over {
            Over::Batch => self.channels,
            Over::Channels(size) => self.planes() / size.max(1),
        }
    }

    /// The number of planes.
    fn planes(&self) -> usize {
        self.batch * self.channels
    }

    /// The channel and the set of each of some planes, in order.
    #[inline(always)]
    fn places(&self, planes: Range<usize>) -> impl Iterator<Item = (usize, usize)> + use<> {
        let Self { channels, over, .. } = *self;
        let mut next = planes.start % channels.max(1);
        planes.map(move |plane| {
            let channel = next;
            next = if next + 1 == channels { 0 } else { next + 1 };
            let set = match over {
                Over::Batch => channel,
                Over::Channels(size) => plane / size,
            };
            (channel, set)
        })
    }

    /// The elements of some planes, plane by plane.
    #[inline(always)]
    fn each<'a, T>(&self, planes: &Range<usize>, all: &'a [T]) -> std::slice::ChunksExact<'a, T> {
        all[planes.start * self.plane..planes.end * self.plane].chunks_exact(self.plane)
    }

    /// The number of elements of a set.
    fn elements<C: Real>(&self) -> C {
        let planes = match self.over {
            Over::Batch => self.batch,
            Over::Channels(size) => size,
        };
        C::from_f64((planes * self.plane) as f64)
    }

    /// `sums[set] = ` the sum of its planes' numbers.
    fn sum_sets<C: Real<Compute = C>>(&self, planes: &[C], sums: &mut [C]) {
        sums.fill(C::ZERO);
        let extents = match self.over {
            Over::Batch => [1, self.batch, self.channels],
            Over::Channels(size) => [self.count(), size, 1],
        };
        add_sums(planes, extents, sums);
    }

    /// Writes the mean of each set, what rounding left out of it, and the variance, by the corrected two-pass algorithm
    /// ([`variance_of`](super::sum_of::variance_of)); NaN for sets without elements.
    pub(crate) fn statistics<T: Real>(
        &self,
        cores: Cores,
        input: &[T],
        [mean, rest, variance]: [&mut [T::Compute]; 3],
    ) {
        if input.is_empty() {
            [mean, rest, variance].into_iter().for_each(|all| all.fill(T::Compute::NAN));
            return;
        }
        let count = self.elements::<T::Compute>();
        with_scratch([self.planes(); 2], |[squares, rests]: [&mut [T::Compute]; 2]| {
            share_rows(cores, [1, self.plane], squares, |planes, sums| {
                for (sum, plane) in sums.iter_mut().zip(self.each(&planes, input)) {
                    *sum = if let [value] = plane { value.widen() } else { simd::sum(plane) };
                }
            });
            self.sum_sets(squares, mean);
            mean.iter_mut().for_each(|mean| *mean /= count);
            let means = &*mean;
            share_two(cores, self.plane, [&mut *squares, &mut *rests], |planes, [squares, rests]| {
                let sums = squares.iter_mut().zip(rests).zip(self.each(&planes, input));
                for (((square, rest), plane), (_, set)) in sums.zip(self.places(planes)) {
                    let mean = means[set];
                    if let [value] = plane {
                        *rest = value.widen() - mean;
                        *square = *rest * *rest;
                    } else {
                        [*square, *rest] = moments_around(plane, mean);
                    }
                }
            });
            self.sum_sets(squares, variance);
            self.sum_sets(rests, rest);
            for (rest, variance) in rest.iter_mut().zip(variance) {
                let sum = *rest;
                *rest = sum / count;
                *variance = ((*variance - sum * *rest) / count).maximum(T::Compute::ZERO);
            }
        });
    }

    /// `out = (input - mean) / sqrt(variance + epsilon) * weight + bias`, with the statistics of the set, and the
    /// weight and the bias of the channel.
    pub(crate) fn normalise<T: Real>(
        &self,
        cores: Cores,
        input: &[T],
        [weight, bias]: [&[T]; 2],
        [mean, rest, variance]: [&[T::Compute]; 3],
        epsilon: T::Compute,
        out: &mut [T],
    ) {
        if input.is_empty() {
            return;
        }
        with_scratch([self.count()], |[inverse]: [&mut [T::Compute]; 1]| {
            inverses(variance, epsilon, inverse);
            let inverse = &*inverse;
            share_rows(cores, [self.plane; 2], out, |planes, out| {
                let each = self.each(&planes, input).zip(out.chunks_exact_mut(self.plane));
                for ((plane, out), (channel, set)) in each.zip(self.places(planes)) {
                    let (mean, rest, factor) = (mean[set], rest[set], inverse[set] * weight[channel].widen());
                    let bias = bias[channel].widen();
                    map_plane([plane], out, |[value]| (value - mean - rest) * factor + bias);
                }
            });
        });
    }

    /// The gradients of [`Self::normalise`] of the input's own statistics, from the gradient by its result: by the
    /// input, the weight and the bias.
    ///
    /// With `x` the normalised input: `by_input = (weight * gradient - mean of weight * gradient - x * mean of weight *
    /// gradient * x) / sqrt(variance + epsilon)`, `by_weight = sum of gradient * x`, `by_bias = sum of gradient`.
    pub(crate) fn backward<T: Real>(
        &self,
        cores: Cores,
        [input, weight, gradient]: [&[T]; 3],
        epsilon: T::Compute,
        [by_input, by_weight, by_bias]: [&mut [T]; 3],
    ) {
        if input.is_empty() {
            by_weight.fill(T::ZERO);
            by_bias.fill(T::ZERO);
            return;
        }
        let (count, sets, planes) = (self.elements::<T::Compute>(), self.count(), self.planes());
        let lengths = [sets, sets, sets, sets, sets, planes, planes, self.channels];
        with_scratch(lengths, |buffers: [&mut [T::Compute]; 8]| {
            let [mean, rest, inverse, offset, slope, sums, moments, channel_sums] = buffers;
            self.statistics(cores, input, [&mut *mean, &mut *rest, &mut *slope]);
            inverses(slope, epsilon, inverse);
            let (mean, rest, inverse) = (&*mean, &*rest, &*inverse);
            share_two(cores, self.plane, [&mut *sums, &mut *moments], |planes, [sums, moments]| {
                let each = self.each(&planes, input).zip(self.each(&planes, gradient));
                let each = each.zip(sums.iter_mut().zip(moments));
                for (((input, gradient), (sum, moment)), (_, set)) in each.zip(self.places(planes)) {
                    let (mean, rest, inverse) = (mean[set], rest[set], inverse[set]);
                    let term = |gradient, value| gradient * ((value - mean - rest) * inverse);
                    (*sum, *moment) = match (gradient, input) {
                        ([gradient], [value]) => (gradient.widen(), term(gradient.widen(), value.widen())),
                        _ => (simd::sum(gradient), sum_of_two(gradient, input, term)),
                    };
                }
            });
            for (sums, by) in [(&*sums, by_bias), (&*moments, by_weight)] {
                channel_sums.fill(T::Compute::ZERO);
                add_sums(sums, [1, self.batch, self.channels], channel_sums);
                T::narrow_slice(channel_sums, by);
            }
            for ((sum, moment), (channel, _)) in
                sums.iter_mut().zip(&mut *moments).zip(self.places(0..planes))
            {
                let weight = weight[channel].widen();
                *sum *= weight;
                *moment *= weight;
            }
            self.sum_sets(sums, offset);
            self.sum_sets(moments, slope);
            let (offset, slope) = (&*offset, &*slope);
            share_rows(cores, [self.plane; 2], by_input, |planes, by_input| {
                let each = self.each(&planes, input).zip(self.each(&planes, gradient));
                let each = each.zip(by_input.chunks_exact_mut(self.plane));
                for (((input, gradient), out), (channel, set)) in each.zip(self.places(planes)) {
                    let weight = weight[channel].widen();
                    let (mean, rest, inverse) = (mean[set], rest[set], inverse[set]);
                    let (offset, slope) = (offset[set] / count, slope[set] / count);
                    map_plane([input, gradient], out, |[value, gradient]| {
                        (weight * gradient - offset - (value - mean - rest) * inverse * slope) * inverse
                    });
                }
            });
        });
    }
}

/// `inverse = 1 / sqrt(variance + epsilon)`.
#[inline(always)]
fn inverses<C: Real<Compute = C>>(variance: &[C], epsilon: C, inverse: &mut [C]) {
    for (inverse, variance) in inverse.iter_mut().zip(variance) {
        *inverse = C::ONE / (*variance + epsilon).sqrt();
    }
}

/// `out[i] = f(inputs[..][i])`, computed in the compute type.
#[inline(always)]
fn map_plane<T: Real, const INPUTS: usize>(
    inputs: [&[T]; INPUTS],
    out: &mut [T],
    f: impl Fn([T::Compute; INPUTS]) -> T::Compute,
) {
    if computes_in_itself::<T>() || out.len() == 1 {
        let inputs = inputs.map(|input| &input[..out.len()]);
        for (index, out) in out.iter_mut().enumerate() {
            *out = T::narrow(f(inputs.map(|input| input[index].widen())));
        }
        return;
    }
    with_scratch([BLOCK; INPUTS], |mut wide: [&mut [T::Compute]; INPUTS]| {
        for (block, out) in out.chunks_mut(BLOCK).enumerate() {
            let mut wide = wide.each_mut();
            for (wide, input) in wide.iter_mut().zip(inputs) {
                T::widen_slice(&input[block * BLOCK..][..out.len()], &mut wide[..out.len()]);
            }
            for index in 0..out.len() {
                wide[0][index] = f(wide.each_ref().map(|wide| wide[index]));
            }
            T::narrow_slice(&wide[0][..out.len()], out);
        }
    });
}
