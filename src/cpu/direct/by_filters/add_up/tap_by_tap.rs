//! The sums of [`AddUp`] on machines with 16 registers, where the filters of one tap fit beside the sums, but not those
//! of three; the sums of pairs; and those with a dilation.
//!
//! The loop loads an element of the image for each tap that it meets, as often as a matrix product does. The number of
//! columns of a kernel is not known at compile time, since otherwise the compiler would keep the elements of one tap
//! for the next, and sums in memory. The loop does not check where in a row a border is either, since the sums of a
//! loop with such checks do not all stay in registers. It multiplies the border's zeros (with rows of 7 and kernels of
//! 3 columns, 2 of 21 products).
//!
//! A kernel with a dilation takes these loops on every machine: its taps do not share neighbouring elements.

use pulp::Simd;

use super::AddUp;
use crate::cpu::direct::by_filters::multiply::Multiply;
use crate::cpu::lanes::Lanes;

impl<C: Lanes, M: Multiply<C>> AddUp<'_, C, M> {
    /// The sums at `P` positions from number `first` on.
    #[inline(always)]
    pub(super) fn tap_by_tap<S: Simd, const V: usize, const P: usize>(
        &mut self,
        simd: S,
        first: usize,
    ) -> [[C::Vector<S>; V]; P] {
        let mut sums = [self.first_sums::<S, V>(simd); P];
        let plane = *self.sums.plane;
        let (filters, _) = C::vectors::<S>(self.filters).0.as_chunks::<V>();
        let (columns, [row_step, column_step]) = (plane.kernel[1], [plane.row_step(), plane.dilation[1]]);
        let line_len = plane.span()[1] + P;
        let rows = self.rows_of(first, P, filters.len() / plane.taps(), line_len);
        for (channel, filters) in filters.chunks_exact(plane.taps()).enumerate() {
            let mut begin = first + channel * plane.len() + rows.start * row_step;
            for of_row in filters[rows.start * columns..rows.end * columns].chunks_exact(columns) {
                // SAFETY: `begin` is `first + channel * len + row * row_step`, of an existing channel and row of the
                // kernel: by the assertion in `rows_of`, the line ends within `planes`.
                let line = unsafe { self.sums.planes.get_unchecked(begin..begin + line_len) };
                begin += row_step;
                self.prefetch.fetch();
                let mut window = 0;
                for filters in of_row {
                    // SAFETY: `of_row` has `columns` taps, so `window` is at most `span()[1]`, and the line has `P` elements
                    // more.
                    let elements = unsafe { line.get_unchecked(window..window + P) };
                    window += column_step;
                    for place in 0..P {
                        let element = C::splat(simd, elements[place]);
                        for vector in 0..V {
                            let sum = &mut sums[place][vector];
                            *sum = self.multiply.multiply_add(simd, filters[vector], element, *sum);
                        }
                    }
                }
            }
        }
        sums
    }
}
