//! [`log_sum_exp`]: the logarithm of the sum of a long row's exponentials, in one pass.
//!
//! Where a block has a larger element than those before, the sum so far is multiplied by the exponential of the difference
//! (Milakov and Gimelshein 2018, *Online normalizer calculation for softmax*).

use dahl_core::{Element, Real, simd};

use super::position::position;
use super::scratch::with_scratch;

/// Elements of a block, which stay in the first-level cache.
pub(crate) const BLOCK: usize = 2048;

/// The largest element of a row, and `ln(sum of exp(row[j] - largest))`: NaN if no largest element is finite.
///
/// The term of the largest element is 1, and is added in the logarithm: where the sum of the others is small it keeps its
/// digits.
#[inline(always)]
pub(crate) fn log_sum_exp<T: Real>(row: &[T]) -> [T::Compute; 2] {
    let (mut largest, mut others) = (T::Compute::NEG_INFINITY, T::Compute::ZERO);
    with_scratch([BLOCK.min(row.len())], |[powers]: [&mut [T::Compute]; 1]| {
        for block in row.chunks(BLOCK) {
            let powers = &mut powers[..block.len()];
            T::widen_slice(block, powers);
            let of_block = simd::max(&*powers);
            if of_block == T::Compute::NEG_INFINITY {
                continue; // all its exponentials are 0
            }
            let is_larger = of_block > largest || of_block.is_nan();
            let place = if is_larger { position(powers, of_block) } else { None };
            if is_larger {
                // Before the first block with a finite element there is no term of a largest element.
                if largest != T::Compute::NEG_INFINITY {
                    others = (others + T::Compute::ONE) * (largest - of_block).exp();
                }
                largest = of_block;
            }
            T::Compute::exp_below_slice(powers, largest);
            if let Some(place) = place {
                powers[place] = T::Compute::ZERO;
            }
            others += simd::sum(powers);
        }
    });
    let is_finite = largest.is_finite();
    [largest, if is_finite { others.ln_1p() } else { T::Compute::NAN }]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reference(row: &[f64]) -> [f64; 2] {
        let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        [largest, row.iter().map(|x| (x - largest).exp()).sum::<f64>().ln()]
    }

    #[test]
    fn the_largest_element_may_be_in_any_block() {
        for len in [1, BLOCK - 1, BLOCK, 3 * BLOCK + 5] {
            for place in [0, len / 2, len - 1] {
                let mut row: Vec<f64> = (0..len).map(|i| (i * 7919 % 4001) as f64 / 1000.3).collect();
                row[place] = 9.5;
                let [largest, logarithm]: [f64; 2] = log_sum_exp(&row);
                let expected = reference(&row);
                assert_eq!(largest, expected[0]);
                assert!((logarithm - expected[1]).abs() <= 1e-13 * expected[1].abs(), "{len} {place}");
            }
        }
    }

    #[test]
    fn a_sum_that_is_nearly_one_keeps_its_digits() {
        let mut row = vec![-50.0; 2 * BLOCK];
        row[BLOCK + 3] = 0.0;
        let [_, logarithm]: [f64; 2] = log_sum_exp(&row);
        let expected = (2 * BLOCK - 1) as f64 * f64::exp(-50.0);
        assert!((logarithm - expected).abs() <= 1e-13 * expected);
    }

    #[test]
    fn numbers_that_are_not_finite() {
        let mut row = vec![f64::NEG_INFINITY; 2 * BLOCK];
        assert!(log_sum_exp::<f64>(&row)[1].is_nan());
        row[BLOCK + 1] = 3.0;
        assert_eq!(log_sum_exp(&row), [3.0, 0.0]);
        for place in [0, 2 * BLOCK - 1] {
            for value in [f64::NAN, f64::INFINITY] {
                let mut row = row.clone();
                row[place] = value;
                assert!(log_sum_exp::<f64>(&row)[1].is_nan());
            }
        }
    }
}
