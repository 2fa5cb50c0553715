//! [`Unpool`]: the gradient by the sums, from the gradient by what [`ReluPool`](super::ReluPool) made of them.

use dahl_core::{Element, Real, simd as loops};
use pulp::Simd;

use super::gradient::Source;
use super::plane::{Plane, widen};
use super::relu::pooled;
use crate::cpu::lanes::Lanes;

/// Each element of `gradient` goes to the place of its window's largest sum, if that was above 0 (or NaN, as in
/// [`relu_backward`](crate::ops::relu_backward)); all other sums get 0. What goes anywhere is added up for each channel.
pub(crate) struct Unpool<'a, T: Real> {
    pub(crate) gradient: &'a [T],
    /// What was left of the sums.
    pub(crate) out: &'a [T],
    pub(crate) index: &'a [u32],
    /// The window.
    pub(crate) size: [usize; 2],
    /// The gradient by the bias, to which the sums of the channels are added.
    pub(crate) by_bias: &'a mut [T::Compute],
    /// As long as a channel of the pooled output.
    pub(crate) passed: &'a mut [T::Compute],
    /// As long.
    pub(crate) outputs: &'a mut [T::Compute],
    /// As long.
    pub(crate) places: &'a mut [u32],
}

impl<T: Real<Compute: Lanes>> Source<T::Compute> for Unpool<'_, T> {
    #[inline(always)]
    fn fill<S: Simd>(
        &mut self,
        simd: S,
        plane: &Plane,
        image: usize,
        parts: &mut [T::Compute],
        part_len: usize,
    ) {
        let ([_, columns], [rows, cols]) = (plane.output(), pooled(plane.output(), self.size));
        let channels = self.by_bias.len();
        for (channel, (part, total)) in parts.chunks_exact_mut(part_len).zip(&mut *self.by_bias).enumerate() {
            let covered =
                (image * channels + channel) * rows * cols..(image * channels + channel + 1) * rows * cols;
            widen(simd, &self.gradient[covered.clone()], self.passed);
            widen(simd, &self.out[covered.clone()], self.outputs);
            rectify_backward(self.outputs, self.passed);
            positions(&self.index[covered], plane, self.places);
            part.fill(T::Compute::ZERO);
            for (&place, &gradient) in self.places.iter().zip(&*self.passed) {
                part[place as usize] = gradient;
            }
            *total += loops::sum(self.passed);
        }
    }
}

/// Lets through the gradients of outputs that are not 0 or below.
#[inline(always)]
pub(crate) fn rectify_backward<C: Real>(outputs: &[C], gradient: &mut [C]) {
    for (gradient, &output) in gradient.iter_mut().zip(outputs) {
        *gradient = if output <= C::ZERO { C::ZERO } else { *gradient };
    }
}

/// The largest place whose row [`positions`] finds in `f32`.
const MOST_PLACES: usize = 1 << 20;

/// Where places in a plane with rows of `columns` lie in one with rows of `width`.
#[inline(always)]
fn positions(index: &[u32], plane: &Plane, positions: &mut [u32]) {
    let ([rows, columns], width) = (plane.output(), plane.width());
    let between = (width - columns) as u32;
    if rows * columns > MOST_PLACES || between == 0 {
        for (position, &place) in positions.iter_mut().zip(index) {
            *position = place + place / columns as u32 * between;
        }
        return;
    }
    // A division that is done in vectors: `(place + 1/2) / columns` is at least `1 / (2 columns)` from a whole number, and
    // its error, below `2 * 2^-24` of it, is less than that as long as there are fewer than 2^22 places.
    let reciprocal = 1.0 / columns as f32;
    for (position, &place) in positions.iter_mut().zip(index) {
        let row = ((place as i32 as f32 + 0.5) * reciprocal) as i32 as u32;
        *position = place.wrapping_add(row.wrapping_mul(between));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_places_are_exact() {
        for columns in [1, 2, 3, 5, 13, 24, 26, 127, 511, 1023] {
            let rows = MOST_PLACES / columns;
            let plane = Plane { image: [rows, columns + 2], kernel: [1, 3], padding: [0, 0] };
            let index: Vec<u32> = (0..(rows * columns) as u32).collect();
            let mut found = vec![0; index.len()];
            positions(&index, &plane, &mut found);
            for (&place, &position) in index.iter().zip(&found) {
                assert_eq!(position, place + place / columns as u32 * 2, "{place} in rows of {columns}");
            }
        }
    }
}
