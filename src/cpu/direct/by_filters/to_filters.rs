//! [`ToFilters`]: sums transposed, from vectors of filters to rows of positions.

use pulp::{Simd, WithSimd};

use crate::cpu::lanes::{Lanes, with_lanes};

/// Transposes `V` vectors of filters at each position to positions of each filter, from number `begin` on. One function
/// for all sizes of kernels and blocks.
pub(super) struct ToFilters<'a, C, const V: usize> {
    pub(super) from: &'a [C],
    pub(super) sums: &'a mut [C],
    pub(super) sums_len: usize,
    pub(super) begin: usize,
}

impl<C: Lanes, const V: usize> WithSimd for ToFilters<'_, C, V> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        with_lanes!(C, S, N => self.squares::<S, N>(simd));
    }
}

impl<C: Lanes, const V: usize> ToFilters<'_, C, V> {
    /// In squares of `N` positions and filters.
    #[inline(always)]
    fn squares<S: Simd, const N: usize>(self, simd: S) {
        let (from, _) = C::vectors::<S>(self.from).0.as_chunks::<V>();
        for (number, from) in from.as_chunks::<N>().0.iter().enumerate() {
            let begin = self.begin + number * N;
            for vector in 0..V {
                let mut square = [C::splat(simd, C::ZERO); N];
                for (to, from) in square.iter_mut().zip(from) {
                    *to = from[vector];
                }
                for (filter, positions) in C::transpose(simd, square).into_iter().enumerate() {
                    let to = &mut self.sums[(vector * N + filter) * self.sums_len + begin..][..N];
                    C::vectors_mut::<S>(to).0[0] = positions;
                }
            }
        }
    }
}
