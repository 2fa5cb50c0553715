//! [`Lines`]: linear interpolation between the elements of a volume, along up to three axes; and its adjoint.
//!
//! Each line of the result is a line between four lines of the volume, interpolated along the last axis.

use dahl_core::{Element, Real};

use super::scratch::with_scratch;

/// Where a point lies along an axis, as a fraction: `numerator / denominator`.
pub(crate) type Place = [usize; 2];

/// The two elements around a point along an axis, and their weights.
type Between<C> = [(usize, C); 2];

/// A volume, and the points along each axis between whose elements is interpolated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lines<F> {
    pub(crate) extents: [usize; 3],
    pub(crate) points: [usize; 3],
    /// The place along an axis of a point.
    pub(crate) place: F,
}

impl<F: Fn(usize, usize) -> Place + Copy> Lines<F> {
    /// What is around a point along an axis.
    #[inline(always)]
    fn between<C: Real>(&self, axis: usize, point: usize) -> Between<C> {
        let [numerator, denominator] = (self.place)(axis, point);
        let (first, rest) = (numerator / denominator, numerator % denominator);
        let weight = |part: usize| C::from_f64(part as f64 / denominator as f64);
        let second = (first + 1).min(self.extents[axis] - 1);
        [(first, weight(denominator - rest)), (second, weight(rest))]
    }

    /// Calls `f` with the four lines around each line of points, and their weights.
    #[inline(always)]
    fn each_line<C: Real>(&self, mut f: impl FnMut([(usize, C); 4])) {
        for z in 0..self.points[0] {
            for y in 0..self.points[1] {
                let (planes, rows) = (self.between::<C>(0, z), self.between::<C>(1, y));
                let line = |index: usize| {
                    let ((plane, of_plane), (row, of_row)) = (planes[index / 2], rows[index % 2]);
                    (plane * self.extents[1] + row, of_plane * of_row)
                };
                f([line(0), line(1), line(2), line(3)]);
            }
        }
    }

    /// Calls `f` with what is around the points of the last axis: first elements, and the weights of both.
    #[inline(always)]
    fn with_columns<C: Real>(&self, f: impl FnOnce(&[usize], &[C], &[C])) {
        let count = self.points[2];
        with_scratch([count], |[firsts]: [&mut [usize]; 1]| {
            with_scratch([count, count], |[near, far]: [&mut [C]; 2]| {
                for point in 0..count {
                    [(firsts[point], near[point]), (_, far[point])] = self.between(2, point);
                }
                f(firsts, near, far);
            });
        });
    }

    /// `out = ` the values at the points, of each volume of `input`.
    #[inline(always)]
    pub(crate) fn interpolate<T: Real>(&self, input: &[T], out: &mut [T]) {
        let (len, columns) = (self.extents.iter().product(), self.extents[2]);
        let points: usize = self.points.iter().product();
        if out.is_empty() {
            return;
        }
        self.with_columns::<T::Compute>(|firsts, near, far| {
            with_scratch([columns, firsts.len()], |[sums, wide]: [&mut [T::Compute]; 2]| {
                for (volume, out) in input.chunks_exact(len).zip(out.chunks_exact_mut(points)) {
                    let mut outs = out.chunks_exact_mut(firsts.len());
                    self.each_line::<T::Compute>(|lines| {
                        let Some(out) = outs.next() else { return };
                        sums.fill(T::Compute::ZERO);
                        for (line, weight) in lines {
                            // The second of two lines that are one has no weight, and may be infinite.
                            if weight != T::Compute::ZERO {
                                let values = &volume[line * columns..][..columns];
                                for (sum, value) in sums.iter_mut().zip(values) {
                                    *sum += weight * value.widen();
                                }
                            }
                        }
                        let points = firsts.iter().zip(near.iter().zip(far));
                        for (wide, (&first, (&near, &far))) in wide.iter_mut().zip(points) {
                            *wide = near * sums[first];
                            if far != T::Compute::ZERO {
                                *wide += far * sums[(first + 1).min(columns - 1)];
                            }
                        }
                        T::narrow_slice(wide, out);
                    });
                }
            });
        });
    }

    /// The gradient of [`Self::interpolate`] by its input.
    #[inline(always)]
    pub(crate) fn backward<T: Real>(&self, gradient: &[T], out: &mut [T]) {
        let (len, columns) = (self.extents.iter().product::<usize>(), self.extents[2]);
        let points: usize = self.points.iter().product();
        out.fill(T::ZERO);
        if out.is_empty() || gradient.is_empty() {
            return;
        }
        self.with_columns::<T::Compute>(|firsts, near, far| {
            with_scratch([len, columns], |[sums, line_sums]: [&mut [T::Compute]; 2]| {
                for (gradient, out) in gradient.chunks_exact(points).zip(out.chunks_exact_mut(len)) {
                    sums.fill(T::Compute::ZERO);
                    let mut gradients = gradient.chunks_exact(firsts.len());
                    self.each_line::<T::Compute>(|lines| {
                        let Some(gradient) = gradients.next() else { return };
                        line_sums.fill(T::Compute::ZERO);
                        let points = firsts.iter().zip(near.iter().zip(far));
                        for (gradient, (&first, (&near, &far))) in gradient.iter().zip(points) {
                            line_sums[first] += near * gradient.widen();
                            if far != T::Compute::ZERO {
                                line_sums[(first + 1).min(columns - 1)] += far * gradient.widen();
                            }
                        }
                        for (line, weight) in lines {
                            if weight != T::Compute::ZERO {
                                let sums = &mut sums[line * columns..][..columns];
                                for (sum, value) in sums.iter_mut().zip(&*line_sums) {
                                    *sum += weight * *value;
                                }
                            }
                        }
                    });
                    T::narrow_slice(sums, out);
                }
            });
        });
    }
}
