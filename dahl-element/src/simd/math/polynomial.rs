//! [`polynomial`]: the sum of `coefficients[k] * x^k`.

use std::ops::{Add, Mul};

/// `coefficients[0] + x * (coefficients[1] + x * ..)`, by Horner's rule.
///
/// The loop is unrolled: its length is a constant. Multiplication and addition round separately, with and without
/// FMA, so that the result is the same on every level.
#[inline(always)]
pub(super) fn polynomial<F, const LENGTH: usize>(x: F, coefficients: [F; LENGTH]) -> F
where
    F: Copy + Add<Output = F> + Mul<Output = F>,
{
    let mut sum = coefficients[LENGTH - 1];
    for k in (0..LENGTH - 1).rev() {
        sum = sum * x + coefficients[k];
    }
    sum
}
