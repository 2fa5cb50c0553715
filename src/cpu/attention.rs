//! Attention of one head in blocks: [`attend`], and its gradients, [`attend_backward`].
//!
//! The scores of a block of queries with a block of keys are a small matrix product in temporary memory. They are
//! exponentiated there, and multiplied by the block of values: the matrix of all scores never exists. The softmax is
//! computed on the way (Milakov and Gimelshein 2018, *Online normalizer calculation for softmax*; Dao, Fu, Ermon, Rudra and
//! Ré 2022, *FlashAttention: Fast and Memory-Efficient Exact Attention with IO-Awareness*, algorithms 1 and 4): where a
//! block has a larger score than those before, the sums so far are multiplied by the exponential of the difference.
//!
//! Blocks follow one another in a fixed order, and so do the sums. A pair of a query and a key that it does not see adds
//! nothing to any sum, whatever the two hold (`seen.rs`).

mod backward;
mod block;
mod seen;

use dahl_core::{Element, Real, simd};

use super::compute::{in_compute, widened_len};
use super::gemm::{matrix, matrix_mut, scaled_product};
use super::scratch::with_scratch;
pub(crate) use backward::{Attended, attend_backward};
pub(crate) use block::Head;
use block::{Block, KEYS, QUERIES, rows, rows_mut};
use seen::{Factors, Weighted};

/// `out = softmax(scale * query x transposed(key)) x value`, row by row, and the logarithm of each row's sum of exponentials.
/// A query does not see the keys where its row of `mask` is 0. One that sees no key gets zeros, and minus infinity.
///
/// # Panics
/// If the lengths are not those of `head`.
pub(crate) fn attend<T: Real, L: Real>(
    head: Head,
    query: &[T],
    [key, value]: [&[T]; 2],
    mask: Option<&[u8]>,
    out: &mut [T],
    log_sum_exp: &mut [L],
) {
    let Head { width, value_width, .. } = head;
    assert!(query.len() == head.tokens * width && out.len() == head.tokens * value_width);
    assert!(key.len() == head.keys * width && value.len() == head.keys * value_width);
    assert_eq!(log_sum_exp.len(), head.tokens);
    let (scale, zero) = (T::Compute::from_f64(head.scale), T::Compute::ZERO);
    let lengths = [
        widened_len::<T>(QUERIES * width),
        widened_len::<T>(KEYS * width.max(value_width)),
        QUERIES * KEYS,
        QUERIES * value_width,
        QUERIES,
        QUERIES,
    ];
    with_scratch(lengths, |[queries, wide, scores, sums, largest, totals]: [&mut [T::Compute]; 6]| {
        for block in head.query_blocks() {
            let [first, count] = block;
            let queries =
                matrix(in_compute(rows(query, block, width), prefix(queries, count * width)), [count, width]);
            let sums = &mut sums[..count * value_width];
            sums.fill(zero);
            largest.fill(T::Compute::NEG_INFINITY);
            totals.fill(zero);
            for keys in head.key_blocks(head.visible(first + count - 1)) {
                let block = Block { head, mask, queries: block, keys };
                if block.is_hidden() {
                    continue;
                }
                let [_, seen] = keys;
                let scores = &mut scores[..count * seen];
                let key =
                    matrix(in_compute(rows(key, keys, width), prefix(wide, seen * width)), [seen, width]);
                scaled_product(scale, queries, key.reversed_axes(), zero, matrix_mut(scores, [count, seen]));
                simd::dispatch(Exponentiate { block, scores, sums, largest, totals });
                let value = in_compute(rows(value, keys, value_width), prefix(wide, seen * value_width));
                let weighted = Weighted { block, weights: matrix(scores, [count, seen]) };
                weighted.add(Factors::OfKeys(value), T::Compute::ONE, sums);
            }
            simd::dispatch(Divide { sums, totals, width: value_width });
            T::narrow_slice(sums, rows_mut(out, block, value_width));
            for ((logarithm, largest), total) in
                log_sum_exp[first..].iter_mut().zip(&*largest).zip(&*totals).take(count)
            {
                *logarithm = L::from_f64((*largest + total.ln()).to_f64());
            }
        }
    });
}

/// The first elements of a buffer, of which there are none if nothing is widened.
fn prefix<C>(buffer: &mut [C], length: usize) -> &mut [C] {
    let length = length.min(buffer.len());
    &mut buffer[..length]
}

/// Replaces the scores of a block by their exponentials, relative to the largest so far; adds them to the totals.
struct Exponentiate<'a, C> {
    block: Block<'a>,
    scores: &'a mut [C],
    sums: &'a mut [C],
    largest: &'a mut [C],
    totals: &'a mut [C],
}

impl<C: Real<Compute = C>> simd::Vectorised for Exponentiate<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { block, scores, sums, largest, totals } = self;
        let width = block.head.value_width;
        let states = largest.iter_mut().zip(totals);
        for (row, (scores, (largest, total))) in
            scores.chunks_exact_mut(block.keys[1]).zip(states).enumerate()
        {
            let (scores, hidden) = block.split(row, scores);
            hidden.fill(C::ZERO);
            if scores.is_empty() {
                continue;
            }
            let before = *largest;
            *largest = before.maximum(simd::max(scores));
            let shift = finite_shift(*largest);
            for score in &mut *scores {
                *score = (*score - shift).exp();
            }
            let kept = (before - shift).exp();
            *total = *total * kept + simd::sum(scores);
            if kept != C::ONE {
                for sum in &mut sums[row * width..][..width] {
                    *sum *= kept;
                }
            }
        }
    }
}

/// What is subtracted from scores of which this is the largest: nothing if all are minus infinity, so that their
/// exponentials are 0.
#[inline(always)]
fn finite_shift<C: Real>(largest: C) -> C {
    if largest == C::NEG_INFINITY { C::ZERO } else { largest }
}

/// Divides each row of `sums` by its total, unless that is 0.
struct Divide<'a, C> {
    sums: &'a mut [C],
    totals: &'a [C],
    width: usize,
}

impl<C: Real<Compute = C>> simd::Vectorised for Divide<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (sums, &total) in self.sums.chunks_exact_mut(self.width.max(1)).zip(self.totals) {
            if total != C::ZERO {
                for sum in sums {
                    *sum /= total;
                }
            }
        }
    }
}
