//! [`polynomial`] and [`horner`]: the sum of `coefficients[k] * x^k`.

use std::ops::{Add, Mul};

/// From so many coefficients on, sums of every fourth one are shorter than those of every second one by enough to pay.
const LONG: usize = 12;

/// The sum of `coefficients[k] * x^k`: the sums of the even and of the odd powers apart, each by Horner's rule in `x^2`,
/// or for many coefficients four such sums in `x^4`.
///
/// One sum after Horner's rule would need one operation after the other. A loop over a function then waits for results,
/// since a core looks ahead over only a few numbers.
///
/// The loops are unrolled: their lengths are constants. Multiplication and addition round separately, with and without
/// FMA, so that the result is the same on every level.
#[inline(always)]
pub(super) fn polynomial<F, const LENGTH: usize>(x: F, coefficients: [F; LENGTH]) -> F
where
    F: Copy + Add<Output = F> + Mul<Output = F>,
{
    let square = x * x;
    if const { LENGTH == 1 } {
        coefficients[0]
    } else if const { LENGTH < LONG } {
        every::<_, LENGTH, 2>(square, &coefficients, 0) + x * every::<_, LENGTH, 2>(square, &coefficients, 1)
    } else {
        let fourth = square * square;
        let low = every::<_, LENGTH, 4>(fourth, &coefficients, 0)
            + x * every::<_, LENGTH, 4>(fourth, &coefficients, 1);
        let high = every::<_, LENGTH, 4>(fourth, &coefficients, 2)
            + x * every::<_, LENGTH, 4>(fourth, &coefficients, 3);
        low + square * high
    }
}

/// The same by Horner's rule alone: where an error of the sum is most of the result's.
#[inline(always)]
pub(super) fn horner<F, const LENGTH: usize>(x: F, coefficients: [F; LENGTH]) -> F
where
    F: Copy + Add<Output = F> + Mul<Output = F>,
{
    every::<_, LENGTH, 1>(x, &coefficients, 0)
}

/// The sum of `coefficients[first + STEP * k] * power^k`, by Horner's rule.
#[inline(always)]
fn every<F, const LENGTH: usize, const STEP: usize>(power: F, coefficients: &[F; LENGTH], first: usize) -> F
where
    F: Copy + Add<Output = F> + Mul<Output = F>,
{
    let count = (LENGTH - first).div_ceil(STEP);
    let mut sum = coefficients[first + STEP * (count - 1)];
    for k in (0..count - 1).rev() {
        sum = sum * power + coefficients[first + STEP * k];
    }
    sum
}
