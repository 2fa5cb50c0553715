//! Convolutions of one input channel with some filters, line by line: those of groups with one input channel.
//!
//! `channel: [volume]`, `filters: [filters, taps]`, outputs and their gradients `[filters, positions]`.

use dahl_core::{Element, Real, simd};

use super::scratch::with_scratch;
use super::volume::{Volume, add_to_strided};

/// The outputs. Products with padding are added too: they are NaN if an element of a filter is not finite.
#[inline(always)]
pub(super) fn forward<T: Real>(volume: &Volume, channel: &[T], filters: &[T], out: &mut [T]) {
    let (stride, positions, columns) = (volume.0[2].stride, volume.positions(), volume.0[2].positions());
    with_scratch([columns], |[sums]: [&mut [T::Compute]; 1]| {
        for (filter, out) in filters.chunks_exact(volume.taps()).zip(out.chunks_exact_mut(positions)) {
            for ((line, columns), out) in volume.segments(0..positions).zip(out.chunks_exact_mut(columns)) {
                sums.fill(T::Compute::ZERO);
                for (tap, factor) in volume.each_tap().zip(filter) {
                    let factor = factor.widen();
                    let found = volume.line(line, tap).zip(volume.on_line(tap, columns.clone()));
                    let (inside, source) = found
                        .map_or((0..0, &[][..]), |(line, (inside, first))| (inside, &channel[line][first..]));
                    if !factor.is_finite() {
                        let nothing = factor * T::Compute::ZERO;
                        sums[..inside.start].iter_mut().for_each(|sum| *sum += nothing);
                        sums[inside.end..].iter_mut().for_each(|sum| *sum += nothing);
                    }
                    let sums = &mut sums[inside];
                    if stride == 1 {
                        sums.iter_mut().zip(source).for_each(|(sum, value)| *sum += factor * value.widen());
                    } else {
                        let values = source.iter().step_by(stride);
                        sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += factor * value.widen());
                    }
                }
                T::narrow_slice(sums, out);
            }
        }
    });
}

/// Adds the gradient by the channel to `sums`.
#[inline(always)]
pub(super) fn backward_input<T: Real>(
    volume: &Volume,
    gradient: &[T],
    filters: &[T::Compute],
    sums: &mut [T::Compute],
) {
    let (stride, positions) = (volume.0[2].stride, volume.positions());
    let columns = volume.0[2].positions();
    for (filter, gradient) in filters.chunks_exact(volume.taps()).zip(gradient.chunks_exact(positions)) {
        for ((line, covered), gradient) in volume.segments(0..positions).zip(gradient.chunks_exact(columns)) {
            for (tap, &factor) in volume.each_tap().zip(filter) {
                let Some((line, (inside, first))) =
                    volume.line(line, tap).zip(volume.on_line(tap, covered.clone()))
                else {
                    continue;
                };
                let line = &mut sums[line][first..];
                add_to_strided(line, stride, &gradient[inside], |gradient| factor * gradient.widen());
            }
        }
    }
}

/// Adds the gradients by the filters to `sums`.
#[inline(always)]
pub(super) fn backward_filters<T: Real>(
    volume: &Volume,
    channel: &[T],
    gradient: &[T],
    sums: &mut [T::Compute],
) {
    let (stride, positions) = (volume.0[2].stride, volume.positions());
    let columns = volume.0[2].positions();
    with_scratch([columns], |[strided]: [&mut [T]; 1]| {
        for (sums, gradient) in sums.chunks_exact_mut(volume.taps()).zip(gradient.chunks_exact(positions)) {
            for ((line, covered), gradient) in
                volume.segments(0..positions).zip(gradient.chunks_exact(columns))
            {
                for (tap, sum) in volume.each_tap().zip(&mut *sums) {
                    let Some((line, (inside, first))) =
                        volume.line(line, tap).zip(volume.on_line(tap, covered.clone()))
                    else {
                        continue;
                    };
                    let (gradient, values) = (&gradient[inside], &channel[line][first..]);
                    *sum += if stride == 1 {
                        simd::dot(gradient, &values[..gradient.len()])
                    } else {
                        let strided = &mut strided[..gradient.len()];
                        let each = values.iter().step_by(stride);
                        strided.iter_mut().zip(each).for_each(|(to, from)| *to = *from);
                        simd::dot(gradient, strided)
                    };
                }
            }
        }
    });
}
