//! Attention of one head in blocks: [`attend`], and its gradients, [`attend_backward`].
//!
//! The scores of a block of queries with a block of keys are a small matrix product in temporary memory. They are
//! exponentiated there, and multiplied by the block of values: the matrix of all scores never exists. The softmax is
//! computed on the way (Milakov and Gimelshein 2018, *Online normalizer calculation for softmax*; Dao, Fu, Ermon, Rudra and
//! Ré 2022, *FlashAttention: Fast and Memory-Efficient Exact Attention with IO-Awareness*, algorithms 1 and 4): where a
//! block has a larger score than those before, the sums so far are multiplied by the exponential of the difference.
//!
//! Blocks follow one another in a fixed order, and so do the sums.

use dahl_core::{Element, Real, simd};

use super::compute::{in_compute, widened_len};
use super::gemm::{matrix, matrix_mut, product, scaled_product};
use super::scratch::with_scratch;

/// Queries of a block.
const QUERIES: usize = 64;
/// Keys of a block: the scores of a block fill 32 or 64 KiB.
const KEYS: usize = 128;

/// The extents of a head, and how its scores are computed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    /// The number of queries.
    pub(crate) tokens: usize,
    /// The number of keys.
    pub(crate) keys: usize,
    /// The elements of a query and of a key.
    pub(crate) width: usize,
    /// The elements of a value.
    pub(crate) value_width: usize,
    /// The factor of scores.
    pub(crate) scale: f64,
    /// Whether a query sees only some of the keys, [`visible`](Self::visible).
    pub(crate) is_causal: bool,
}

impl Head {
    /// How many keys the query sees, from the first on: the last query sees all.
    #[inline(always)]
    fn visible(&self, query: usize) -> usize {
        if self.is_causal { (query + 1 + self.keys).saturating_sub(self.tokens) } else { self.keys }
    }

    /// The queries in blocks: their number before the block, and in it.
    fn query_blocks(&self) -> impl Iterator<Item = [usize; 2]> + use<> {
        let tokens = self.tokens;
        (0..tokens).step_by(QUERIES).map(move |first| [first, QUERIES.min(tokens - first)])
    }

    /// The keys up to `end` in blocks: their number before the block, and in it.
    fn key_blocks(&self, end: usize) -> impl Iterator<Item = [usize; 2]> + use<> {
        (0..end).step_by(KEYS).map(move |first| [first, KEYS.min(end - first)])
    }
}

/// A block of queries with a block of keys.
#[derive(Clone, Copy)]
struct Block<'a> {
    head: Head,
    /// For each query and key of the head, 0 where the query does not see the key.
    mask: Option<&'a [u8]>,
    /// The first query, and how many there are.
    queries: [usize; 2],
    /// The first key, and how many there are.
    keys: [usize; 2],
}

impl Block<'_> {
    /// Without the keys after the last that a query sees.
    fn trimmed(self) -> Self {
        let [first, count] = self.queries;
        let seen = self.head.visible(first + count - 1).saturating_sub(self.keys[0]).min(self.keys[1]);
        Self { keys: [self.keys[0], seen], ..self }
    }

    /// Whether no query sees a key.
    fn is_hidden(&self) -> bool {
        let [first, count] = self.queries;
        self.head.visible(first + count - 1) <= self.keys[0]
            || (0..count).all(|row| self.mask_of(row).is_some_and(|mask| mask.iter().all(|&seen| seen == 0)))
    }

    /// The mask of a query of the block.
    #[inline(always)]
    fn mask_of(&self, row: usize) -> Option<&[u8]> {
        let first = (self.queries[0] + row) * self.head.keys + self.keys[0];
        Some(&self.mask?[first..][..self.keys[1]])
    }

    /// The scores of the keys up to the last that a query sees, and the rest. Those that are masked become minus infinity.
    #[inline(always)]
    fn split<'s, C: Real>(&self, row: usize, scores: &'s mut [C]) -> (&'s mut [C], &'s mut [C]) {
        let [first_key, count] = self.keys;
        let visible = self.head.visible(self.queries[0] + row).saturating_sub(first_key).min(count);
        let (scores, hidden) = scores.split_at_mut(visible);
        if let Some(mask) = self.mask_of(row) {
            for (score, &seen) in scores.iter_mut().zip(mask) {
                *score = if seen != 0 { *score } else { C::NEG_INFINITY };
            }
        }
        (scores, hidden)
    }
}

/// The rows `[first, first + count)` of a matrix of `width` columns.
fn rows<T>(matrix: &[T], [first, count]: [usize; 2], width: usize) -> &[T] {
    &matrix[first * width..][..count * width]
}

/// As [`rows`].
fn rows_mut<T>(matrix: &mut [T], [first, count]: [usize; 2], width: usize) -> &mut [T] {
    &mut matrix[first * width..][..count * width]
}

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
                let value = matrix(value, [seen, value_width]);
                product(matrix(scores, [count, seen]), value, matrix_mut(sums, [count, value_width]), true);
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

/// What the gradients of one of the heads that share keys are computed from.
pub(crate) struct Attended<'a, T, L> {
    pub(crate) query: &'a [T],
    /// The results of [`attend`].
    pub(crate) out: &'a [T],
    pub(crate) log_sum_exp: &'a [L],
    /// The gradients by them.
    pub(crate) gradient: &'a [T],
    pub(crate) gradient_log_sum_exp: &'a [L],
}

/// The gradients of [`attend`] by the queries of each of the `attended` heads, which lie side by side in `by_query`, and by
/// the key and the value that they share. The exponentials are computed again, from the logarithms of their sums.
///
/// # Panics
/// If the lengths are not those of `head`.
pub(crate) fn attend_backward<'a, T: Real, L: Real>(
    head: Head,
    attended: impl ExactSizeIterator<Item = Attended<'a, T, L>>,
    [key, value]: [&[T]; 2],
    mask: Option<&[u8]>,
    by_query: &mut [T],
    [by_key, by_value]: [&mut [T]; 2],
) {
    let Head { tokens, keys, width, value_width, .. } = head;
    assert_eq!(by_query.len(), attended.len() * tokens * width);
    assert!(by_key.len() == keys * width && by_value.len() == keys * value_width);
    with_scratch([tokens * width, keys * width, keys * value_width], |sums: [&mut [T::Compute]; 3]| {
        let [query_sums, key_sums, value_sums] = sums;
        key_sums.fill(T::Compute::ZERO);
        value_sums.fill(T::Compute::ZERO);
        for (number, attended) in attended.enumerate() {
            query_sums.fill(T::Compute::ZERO);
            add_gradients(
                head,
                &attended,
                [key, value],
                mask,
                [&mut *query_sums, &mut *key_sums, &mut *value_sums],
            );
            T::narrow_slice(query_sums, rows_mut(by_query, [number * tokens, tokens], width));
        }
        T::narrow_slice(key_sums, by_key);
        T::narrow_slice(value_sums, by_value);
    });
}

/// Adds the gradients of a head to those by its queries, keys and values.
fn add_gradients<T: Real, L: Real>(
    head: Head,
    attended: &Attended<'_, T, L>,
    [key, value]: [&[T]; 2],
    mask: Option<&[u8]>,
    [by_query, by_key, by_value]: [&mut [T::Compute]; 3],
) {
    let Head { tokens, width, value_width, .. } = head;
    let (scale, zero, one) = (T::Compute::from_f64(head.scale), T::Compute::ZERO, T::Compute::ONE);
    let lengths = [
        widened_len::<T>(KEYS * width),
        widened_len::<T>(KEYS * value_width),
        widened_len::<T>(QUERIES * width),
        widened_len::<T>(QUERIES * value_width),
        QUERIES * KEYS,
        QUERIES * KEYS,
        tokens,
        tokens,
    ];
    with_scratch(lengths, |buffers: [&mut [T::Compute]; 8]| {
        let [wide_key, wide_value, wide_query, wide_gradient, powers, slopes, shifts, alongs] = buffers;
        for (row, (shift, along)) in shifts.iter_mut().zip(&mut *alongs).enumerate() {
            let of_row = |matrix| rows(matrix, [row, 1], value_width);
            let by_sum = T::Compute::from_f64(attended.gradient_log_sum_exp[row].to_f64());
            *along = simd::dot(of_row(attended.out), of_row(attended.gradient)) - by_sum;
            *shift = finite_shift(T::Compute::from_f64(attended.log_sum_exp[row].to_f64()));
        }
        for keys in head.key_blocks(head.keys) {
            let [_, seen] = keys;
            let key = in_compute(rows(key, keys, width), prefix(wide_key, seen * width));
            let value = in_compute(rows(value, keys, value_width), prefix(wide_value, seen * value_width));
            let by_key = rows_mut(by_key, keys, width);
            let by_value = rows_mut(by_value, keys, value_width);
            for block in head.query_blocks() {
                let both = Block { head, mask, queries: block, keys }.trimmed();
                if both.is_hidden() {
                    continue;
                }
                let ([first, count], [_, seen]) = (block, both.keys);
                let (key, value) = (
                    matrix(&key[..seen * width], [seen, width]),
                    matrix(&value[..seen * value_width], [seen, value_width]),
                );
                let (by_key, by_value) = (&mut by_key[..seen * width], &mut by_value[..seen * value_width]);
                let query = rows(attended.query, block, width);
                let query = matrix(in_compute(query, prefix(wide_query, count * width)), [count, width]);
                let gradient = rows(attended.gradient, block, value_width);
                let gradient = in_compute(gradient, prefix(wide_gradient, count * value_width));
                let gradient = matrix(gradient, [count, value_width]);
                let (powers, slopes) = (&mut powers[..count * seen], &mut slopes[..count * seen]);
                scaled_product(scale, query, key.reversed_axes(), zero, matrix_mut(powers, [count, seen]));
                product(gradient, value.reversed_axes(), matrix_mut(slopes, [count, seen]), false);
                let (shifts, alongs) = (&shifts[first..], &alongs[first..]);
                simd::dispatch(Slopes { block: both, powers, slopes, shifts, alongs });
                let (powers, slopes) = (matrix(powers, [count, seen]), matrix(slopes, [count, seen]));
                product(powers.reversed_axes(), gradient, matrix_mut(by_value, [seen, value_width]), true);
                scaled_product(scale, slopes.reversed_axes(), query, one, matrix_mut(by_key, [seen, width]));
                let by_query = matrix_mut(rows_mut(by_query, block, width), [count, width]);
                scaled_product(scale, slopes, key, one, by_query);
            }
        }
    });
}

/// Replaces the scores of a block in `powers` by their probabilities, and the gradients by these in `slopes` by those by the
/// scores.
struct Slopes<'a, C> {
    block: Block<'a>,
    powers: &'a mut [C],
    slopes: &'a mut [C],
    /// The logarithms of the sums of exponentials.
    shifts: &'a [C],
    /// The gradients along the results.
    alongs: &'a [C],
}

impl<C: Real<Compute = C>> simd::Vectorised for Slopes<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { block, powers, slopes, shifts, alongs } = self;
        let [_, keys] = block.keys;
        let rows = powers.chunks_exact_mut(keys).zip(slopes.chunks_exact_mut(keys));
        for (row, ((powers, slopes), (&shift, &along))) in rows.zip(shifts.iter().zip(alongs)).enumerate() {
            let (powers, hidden) = block.split(row, powers);
            let (slopes, hidden_slopes) = slopes.split_at_mut(powers.len());
            hidden.fill(C::ZERO);
            hidden_slopes.fill(C::ZERO);
            for (power, slope) in powers.iter_mut().zip(slopes) {
                *power = (*power - shift).exp();
                *slope = *power * (*slope - along);
            }
        }
    }
}
