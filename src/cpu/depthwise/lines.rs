//! The same line by line, for element types that have no vectors, and for numbers that a border of zeros would change.

use dahl_core::{Element, Real, simd};

use crate::cpu::scratch::with_scratch;
use crate::cpu::volume::{Columns, Volume, add_to_strided};

/// The outputs. Products with padding are added too: they are NaN if an element of a filter is not finite.
#[inline(always)]
pub(super) fn forward<T: Real>(volume: &Volume, channel: &[T], filters: &[T], out: &mut [T]) {
    let (stride, positions, columns) = (volume.0[2].stride, volume.positions(), volume.0[2].positions());
    with_columns(volume, |of_taps| {
        with_scratch([columns], |[sums]: [&mut [T::Compute]; 1]| {
            for (filter, out) in filters.chunks_exact(volume.taps()).zip(out.chunks_exact_mut(positions)) {
                for (line, out) in volume.lines().zip(out.chunks_exact_mut(columns)) {
                    sums.fill(T::Compute::ZERO);
                    for ((tap, &[start, end, first]), factor) in volume.each_tap().zip(of_taps).zip(filter) {
                        let factor = factor.widen();
                        let (inside, values) = match volume.line(line, tap) {
                            Some(line) if start < end => (start..end, &channel[line][first..]),
                            _ => (0..0, &[][..]),
                        };
                        if !factor.is_finite() {
                            let nothing = factor * T::Compute::ZERO;
                            sums[..inside.start].iter_mut().for_each(|sum| *sum += nothing);
                            sums[inside.end..].iter_mut().for_each(|sum| *sum += nothing);
                        }
                        let sums = &mut sums[inside];
                        if stride == 1 {
                            sums.iter_mut()
                                .zip(values)
                                .for_each(|(sum, value)| *sum += factor * value.widen());
                        } else {
                            let values = values.iter().step_by(stride);
                            sums.iter_mut()
                                .zip(values)
                                .for_each(|(sum, value)| *sum += factor * value.widen());
                        }
                    }
                    T::narrow_slice(sums, out);
                }
            }
        });
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
    let (stride, positions, columns) = (volume.0[2].stride, volume.positions(), volume.0[2].positions());
    with_columns(volume, |of_taps| {
        for (filter, gradient) in filters.chunks_exact(volume.taps()).zip(gradient.chunks_exact(positions)) {
            for (line, gradient) in volume.lines().zip(gradient.chunks_exact(columns)) {
                for ((tap, &[start, end, first]), &factor) in volume.each_tap().zip(of_taps).zip(filter) {
                    if let Some(line) = volume.line(line, tap)
                        && start < end
                    {
                        let line = &mut sums[line][first..];
                        add_to_strided(line, stride, &gradient[start..end], |gradient| {
                            factor * gradient.widen()
                        });
                    }
                }
            }
        }
    });
}

/// Adds the gradients by the filters to `sums`.
#[inline(always)]
pub(super) fn backward_filters<T: Real>(
    volume: &Volume,
    channel: &[T],
    gradient: &[T],
    sums: &mut [T::Compute],
) {
    let (stride, positions, columns) = (volume.0[2].stride, volume.positions(), volume.0[2].positions());
    with_columns(volume, |of_taps| {
        with_scratch([columns], |[strided]: [&mut [T]; 1]| {
            for (sums, gradient) in sums.chunks_exact_mut(volume.taps()).zip(gradient.chunks_exact(positions))
            {
                for (line, gradient) in volume.lines().zip(gradient.chunks_exact(columns)) {
                    for ((tap, &[start, end, first]), sum) in volume.each_tap().zip(of_taps).zip(&mut *sums) {
                        let Some(line) = volume.line(line, tap).filter(|_| start < end) else { continue };
                        let (gradient, values) = (&gradient[start..end], &channel[line][first..]);
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
    });
}

/// Calls `f` with the columns of each tap.
#[inline(always)]
fn with_columns(volume: &Volume, f: impl FnOnce(&[Columns])) {
    with_scratch([volume.taps()], |[columns]: [&mut [Columns]; 1]| {
        columns.iter_mut().zip(volume.each_tap()).for_each(|(to, tap)| *to = volume.columns(tap));
        f(columns);
    });
}
