//! [`Weighted`]: sums of the vectors that queries see of keys, or keys of queries, each times a weight.
//!
//! They are matrix products, in which the weight of a hidden pair is 0. But 0 times an infinity or NaN is NaN, and the size of a
//! block would decide which sums get it. So elements that are not finite are 0 in the product, if the block hides any pair,
//! and are added pair by pair where they are seen. The bits of all other sums are those of the product.

use dahl_core::Real;
use ndarray::{ArrayView2, ArrayViewMut2};

use super::block::Block;
use crate::cpu::conv2d::is_finite;
use crate::cpu::gemm::{matrix, matrix_mut, scaled_product};
use crate::cpu::scratch::with_scratch;

/// The vectors of a block's keys, or of its queries, one after the other.
#[derive(Clone, Copy)]
pub(super) enum Factors<'a, C> {
    OfKeys(&'a [C]),
    OfQueries(&'a [C]),
}

/// The weights of a block's pairs, 0 where a query does not see a key.
pub(super) struct Weighted<'a, C> {
    pub(super) block: Block<'a>,
    /// `[queries, keys]`.
    pub(super) weights: ArrayView2<'a, C>,
}

impl<C: Real<Compute = C>> Weighted<'_, C> {
    /// Adds to the vector of each query of the block: `scale * sum of weights * factors` over the keys that it sees; with
    /// factors of queries, to that of each key over the queries that see it. `sums` has the vectors, one after the other.
    pub(super) fn add(&self, factors: Factors<'_, C>, scale: C, sums: &mut [C]) {
        let block = self.block;
        let hides_any = || block.hides_any();
        match factors {
            Factors::OfKeys(keys) => {
                add_seen(self.weights, keys, scale, sums, hides_any, |query, key| block.sees(query, key));
            }
            Factors::OfQueries(queries) => {
                let weights = self.weights.reversed_axes();
                add_seen(weights, queries, scale, sums, hides_any, |key, query| block.sees(query, key));
            }
        }
    }
}

/// `sums += scale * weights x factors`, without the products of which `sees(row, inner)` is false.
fn add_seen<C: Real<Compute = C>>(
    weights: ArrayView2<'_, C>,
    factors: &[C],
    scale: C,
    sums: &mut [C],
    hides_any: impl FnOnce() -> bool,
    sees: impl Fn(usize, usize) -> bool,
) {
    let (rows, inner) = weights.dim();
    let width = sums.len() / rows.max(1);
    let mut sums: ArrayViewMut2<'_, C> = matrix_mut(sums, [rows, width]);
    let factors = matrix(factors, [inner, width]);
    if !hides_any() || factors.as_slice().is_some_and(is_finite) {
        return scaled_product(scale, weights, factors, C::ONE, sums);
    }
    with_scratch([factors.len()], |[finite]: [&mut [C]; 1]| {
        for (finite, &factor) in finite.iter_mut().zip(&factors) {
            *finite = if factor.is_finite() { factor } else { C::ZERO };
        }
        scaled_product(scale, weights, matrix(finite, [inner, width]), C::ONE, sums.view_mut());
    });
    for ((k, col), &factor) in factors.indexed_iter().filter(|(_, factor)| !factor.is_finite()) {
        for row in (0..rows).filter(|&row| sees(row, k)) {
            sums[[row, col]] += scale * weights[[row, k]] * factor;
        }
    }
}
