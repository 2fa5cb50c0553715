//! [`attend_backward`]: the gradients of attention.

use dahl_core::{Element, Real, simd};

use super::block::{Block, Head, KEYS, QUERIES, rows, rows_mut};
use super::seen::{Factors, Weighted};
use super::{finite_shift, prefix};
use crate::cpu::compute::{in_compute, widened_len};
use crate::cpu::gemm::{matrix, matrix_mut, product, scaled_product};
use crate::cpu::scratch::with_scratch;

/// What the gradients of one of the heads that share keys are computed from.
pub(crate) struct Attended<'a, T, L> {
    pub(crate) query: &'a [T],
    /// The results of [`attend`](super::attend).
    pub(crate) out: &'a [T],
    pub(crate) log_sum_exp: &'a [L],
    /// The gradients by them.
    pub(crate) gradient: &'a [T],
    pub(crate) gradient_log_sum_exp: &'a [L],
}

/// The gradients of [`attend`](super::attend) by the queries of each of the `attended` heads, which lie side by side in `by_query`, and by
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
                let (key, value) = (&key[..seen * width], &value[..seen * value_width]);
                let query = rows(attended.query, block, width);
                let query = in_compute(query, prefix(wide_query, count * width));
                let gradient = rows(attended.gradient, block, value_width);
                let gradient = in_compute(gradient, prefix(wide_gradient, count * value_width));
                let (powers, slopes) = (&mut powers[..count * seen], &mut slopes[..count * seen]);
                let of_keys = matrix(key, [seen, width]).reversed_axes();
                let to_powers = matrix_mut(powers, [count, seen]);
                scaled_product(scale, matrix(query, [count, width]), of_keys, zero, to_powers);
                let of_values = matrix(value, [seen, value_width]).reversed_axes();
                let to_slopes = matrix_mut(slopes, [count, seen]);
                product(matrix(gradient, [count, value_width]), of_values, to_slopes, false);
                let (shifts, alongs) = (&shifts[first..], &alongs[first..]);
                simd::dispatch(Slopes { block: both, powers, slopes, shifts, alongs });
                let powers = Weighted { block: both, weights: matrix(powers, [count, seen]) };
                let slopes = Weighted { block: both, weights: matrix(slopes, [count, seen]) };
                powers.add(Factors::OfQueries(gradient), one, &mut by_value[..seen * value_width]);
                slopes.add(Factors::OfQueries(query), scale, &mut by_key[..seen * width]);
                slopes.add(Factors::OfKeys(key), scale, rows_mut(by_query, block, width));
            }
        }
    });
}

/// Replaces the scores of a block in `powers` by their probabilities, and the gradients by these in `slopes` by those by the
/// scores. Both are 0 where a query does not see a key.
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
            for (power, slope) in powers.iter_mut().zip(&mut *slopes) {
                *power = (*power - shift).exp();
                *slope = *power * (*slope - along);
            }
            // The shift, the gradient and `along` may be NaN.
            let Some(mask) = block.mask_of(row) else { continue };
            for ((power, slope), &seen) in powers.iter_mut().zip(slopes).zip(mask) {
                *power = if seen != 0 { *power } else { C::ZERO };
                *slope = if seen != 0 { *slope } else { C::ZERO };
            }
        }
    }
}
