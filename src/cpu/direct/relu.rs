//! [`Relu`] and [`ReluPool`]: sums that are rectified, and pooled, while they are at hand.

use dahl_core::{Element, Real};
use pulp::Simd;

use super::convolve::Epilogue;
use super::plane::{Plane, narrow};
use crate::cpu::im2col::for_each_strided;
use crate::cpu::lanes::Lanes;

/// `out = max(sums, 0)`, `[batch, out_channels, rows, columns]`.
pub(crate) struct Relu<'a, T> {
    pub(crate) out: &'a mut [T],
    pub(crate) out_channels: usize,
}

/// `out = ` the largest of each window of `max(sums, 0)`; windows do not overlap. `index` is where in the plane of sums,
/// `row * columns + column`, the largest sum was: the first of equal ones, or of NaN.
pub(crate) struct ReluPool<'a, T: Real> {
    pub(crate) out: &'a mut [T],
    pub(crate) index: &'a mut [u32],
    pub(crate) out_channels: usize,
    /// The window.
    pub(crate) size: [usize; 2],
    /// As long as a row of the output.
    pub(crate) best: &'a mut [T::Compute],
}

impl<T: Real<Compute: Lanes>> Epilogue<T::Compute> for Relu<'_, T> {
    #[inline(always)]
    fn take<S: Simd>(
        &mut self,
        simd: S,
        plane: &Plane,
        [image, filter]: [usize; 2],
        sums: &mut [T::Compute],
    ) {
        let [rows, columns] = plane.output();
        let out = &mut self.out[(image * self.out_channels + filter) * rows * columns..][..rows * columns];
        for sum in &mut sums[..plane.positions()] {
            *sum = sum.max(T::Compute::ZERO);
        }
        plane.gather(simd, sums, out);
    }
}

impl<T: Real<Compute: Lanes>> Epilogue<T::Compute> for ReluPool<'_, T> {
    #[inline(always)]
    fn take<S: Simd>(
        &mut self,
        simd: S,
        plane: &Plane,
        [image, filter]: [usize; 2],
        sums: &mut [T::Compute],
    ) {
        let (columns, width) = (plane.output()[1], plane.width());
        let [rows, cols] = pooled(plane.output(), self.size);
        let begin = (image * self.out_channels + filter) * rows * cols;
        let out = self.out[begin..][..rows * cols].chunks_exact_mut(cols);
        let index = self.index[begin..][..rows * cols].chunks_exact_mut(cols);
        for (row, (out, index)) in out.zip(index).enumerate() {
            let first = row * self.size[0];
            pool(&sums[first * width..], width, self.size, first * columns, columns, self.best, index);
            narrow(simd, self.best, out);
        }
    }
}

/// Rows and columns of windows of this size that do not overlap.
pub(crate) fn pooled(output: [usize; 2], size: [usize; 2]) -> [usize; 2] {
    [output[0] / size[0], output[1] / size[1]]
}

/// One row of windows: `best` is the largest of each, rectified, and `index` where it was. The first row of sums has the
/// place `first`, and rows of places are `columns` long.
#[inline(always)]
pub(crate) fn pool<C: Real>(
    sums: &[C],
    width: usize,
    size: [usize; 2],
    first: usize,
    columns: usize,
    best: &mut [C],
    index: &mut [u32],
) {
    let step = size[1] as u32;
    best.fill(C::NEG_INFINITY);
    for (position, index) in index.iter_mut().enumerate() {
        *index = first as u32 + position as u32 * step;
    }
    for row in 0..size[0] {
        for column in 0..size[1] {
            let line = &sums[row * width + column..][..(best.len() - 1) * size[1] + 1];
            let place = (first + row * columns + column) as u32;
            for_each_strided(best, line, size[1], |best, &value, position| {
                let is_larger = !best.is_nan() & ((value > *best) | value.is_nan());
                *best = if is_larger { value } else { *best };
                index[position] = if is_larger { place + position as u32 * step } else { index[position] };
            });
        }
    }
    for best in best {
        *best = best.max(C::ZERO);
    }
}
