//! [`ToFilters`]: sums transposed, from vectors of filters to rows of positions.

use pulp::{Simd, WithSimd};

use crate::cpu::lanes::{Lanes, MOST_LANES};

/// From `V` vectors of filters at each position to positions of each filter, from number `begin` on. A function of its own for
/// all sizes of kernels and blocks.
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
        let lanes = C::lanes::<S>();
        let (from, _) = C::vectors::<S>(self.from).0.as_chunks::<V>();
        for (number, from) in from.chunks_exact(lanes).enumerate() {
            let begin = self.begin + number * lanes;
            for vector in 0..V {
                let mut block = [C::splat(simd, C::ZERO); MOST_LANES];
                for (to, from) in block.iter_mut().zip(from) {
                    *to = from[vector];
                }
                for (filter, positions) in C::transpose(simd, block).into_iter().take(lanes).enumerate() {
                    let to = &mut self.sums[(vector * lanes + filter) * self.sums_len + begin..][..lanes];
                    C::vectors_mut::<S>(to).0[0] = positions;
                }
            }
        }
    }
}
