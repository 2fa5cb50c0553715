//! Trigonometric functions of `f32` and `f64`.
//!
//! `f32` computes in `f64`, without branches, for every argument. The angle is measured in quarter turns,
//! `x * 2 / π = n + t` with `|t| <= 1/2`, and only `n` modulo 4 counts. So whole multiples of 4 are left out of `2 / π`
//! itself: `x = X * 2^(26 j)` with `|X| < 2^50`, and `2^(26 j) * 2 / π` modulo 4 is one of four constants, each given
//! in three parts, of which the products of the first two, of 28 bits, with the 24 bits of `X` are exact. (The idea is M. Payne and
//! R. Hanek's, *Radian Reduction for Trigonometric Functions*, 1983; the constants take the place of the bits of `2 / π`
//! from a table.) On `|r| <= π / 4`, with `r = t * π / 2`, sine and cosine are polynomials that interpolate at Chebyshev
//! nodes.
//!
//! `f64` calls the standard library: the reduction of its large arguments needs a table of over a thousand bits.

use super::polynomial::horner;
use super::scale::Scale;

/// Trigonometric functions; the meanings and errors are stated at [`Real`](crate::element::Real).
pub(crate) trait Trigonometric: Sized {
    fn sin(self) -> Self;
    fn cos(self) -> Self;
    fn tan(self) -> Self;
    fn sin_cos(self) -> (Self, Self);
}

impl Trigonometric for f32 {
    #[inline(always)]
    fn sin(self) -> Self {
        let sine = circle(self).1 as f32;
        // Keeps the sign of zero.
        if self == 0.0 { self } else { sine }
    }

    #[inline(always)]
    fn cos(self) -> Self {
        circle(self).0 as f32
    }

    #[inline(always)]
    fn tan(self) -> Self {
        let (cosine, sine) = circle(self);
        let tangent = (sine / cosine) as f32;
        if self == 0.0 { self } else { tangent }
    }

    #[inline(always)]
    fn sin_cos(self) -> (Self, Self) {
        let (cosine, sine) = circle(self);
        (if self == 0.0 { self } else { sine as f32 }, cosine as f32)
    }
}

/// `2^(26 j) * 2 / π` modulo 4, times `2^(-26 j)`, for `j = 0, 1, 2, 3`: the first 28 bits, the next 28, and the rest.
const QUARTER_TURNS: [[f64; 4]; 3] = [
    [0.6366197764873505, 2.568255319523871e-08, 2.937095545806004e-16, 6.074026479468182e-24],
    [-4.11976913694545e-09, 7.166494882838848e-17, -5.434184086300878e-25, 1.0181664440476218e-32],
    [1.6153797880892852e-17, 2.8376220177865265e-25, -2.1442872565786008e-33, -5.297650908280439e-41],
];

/// The bounds at which `j` becomes 1, 2 and 3: `2^50`, `2^76` and `2^102`.
const RANGES: [f64; 3] = [1.125899906842624e15, 7.555786372591432e22, 5.070602400912918e30];

/// The product of `x` with a part of `2 / π`, modulo 4.
#[inline(always)]
fn turns<const PART: usize>(x: f64) -> f64 {
    let size = x.abs();
    // Immediate constants: a table in memory would be read with gather instructions, which are slow.
    let low = if size >= const { RANGES[0] } {
        const { QUARTER_TURNS[PART][1] }
    } else {
        const { QUARTER_TURNS[PART][0] }
    };
    let high = if size >= const { RANGES[2] } {
        const { QUARTER_TURNS[PART][3] }
    } else {
        const { QUARTER_TURNS[PART][2] }
    };
    x * if size >= const { RANGES[1] } { high } else { low }
}

/// Cosine and sine of `x`; NaN if it is infinite or NaN.
#[inline(always)]
fn circle(x: f32) -> (f64, f64) {
    let x = x as f64;
    // The first two products contain whole quarter turns; the sum of the remainders is inexact, so its error is kept.
    let (first, second) = (turns::<0>(x), turns::<1>(x));
    let (first_whole, first_turns) = first.nearest();
    let (second_whole, second_turns) = second.nearest();
    let (first, second) = (first - first_whole, second - second_whole);
    let sum = first + second;
    let part = sum - first;
    let lost = (first - (sum - part)) + (second - part);
    let (sum_whole, sum_turns) = sum.nearest();
    let t = (sum - sum_whole) + (lost + turns::<2>(x));
    let quarter = first_turns.wrapping_add(second_turns).wrapping_add(sum_turns);

    let r = t * std::f64::consts::FRAC_PI_2;
    let square = r * r;
    let sine = r + r * square * horner(square, SINE);
    let cosine = 1.0 + square * (square * horner(square, COSINE) - 0.5);
    let (cosine, sine) = if quarter & 1 == 0 { (cosine, sine) } else { (sine, cosine) };
    // Each quarter turn maps (cosine, sine) to (-sine, cosine).
    let cosine = if (quarter + 1) & 2 == 0 { cosine } else { -cosine };
    let sine = if quarter & 2 == 0 { sine } else { -sine };
    (cosine, sine)
}

/// `(sin(r) - r) / r^3` in `r^2`.
const SINE: [f64; 4] =
    [-0.16666666663844049, 0.008333331870341349, -0.00019840084376422702, 2.724962008007533e-06];
/// `(cos(r) - 1 + r^2 / 2) / r^4` in `r^2`.
const COSINE: [f64; 3] = [0.04166666465348879, -0.001388830186756237, 2.454768977246003e-05];

impl Trigonometric for f64 {
    #[inline(always)]
    fn sin(self) -> Self {
        f64::sin(self)
    }

    #[inline(always)]
    fn cos(self) -> Self {
        f64::cos(self)
    }

    #[inline(always)]
    fn tan(self) -> Self {
        f64::tan(self)
    }

    #[inline(always)]
    fn sin_cos(self) -> (Self, Self) {
        f64::sin_cos(self)
    }
}
