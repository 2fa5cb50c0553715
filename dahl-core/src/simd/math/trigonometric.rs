//! Trigonometric functions of `f32` and `f64`.
//!
//! `f32` computes in `f64`, without branches, for every argument. The angle is measured in quarter turns,
//! `x * 2 / π = n + t` with `|t| <= 1/2`, and only `n` modulo 4 counts. So whole multiples of 4 are left out of `2 / π`
//! itself: `x = X * 2^(26 j)` with `|X| < 2^50`, and `2^(26 j) * 2 / π` modulo 4 is one of four constants, each given
//! in four parts of at most 28 bits, whose products with the 24 bits of `X` are exact. (The idea is M. Payne and
//! R. Hanek's, *Radian Reduction for Trigonometric Functions*, 1983; the constants take the place of the bits of `2 / π`
//! from a table.) On `|r| <= π / 4`, with `r = t * π / 2`, sine and cosine are polynomials that interpolate at Chebyshev
//! nodes.
//!
//! `f64` calls the standard library: the reduction of its large arguments needs a table of over a thousand bits.

use super::polynomial::polynomial;
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
        // The sign of zero.
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

/// `2^(26 j) * 2 / π` modulo 4, for `j = 0, 1, 2, 3`, each as a sum of parts of at most 28 bits.
const QUARTER_TURNS: [[f64; 4]; 4] = [
    [0.6366197764873505, -4.11976913694545e-09, 1.6153797803925804e-17, 7.696704847356705e-26],
    [1.72352696955204, 4.809353304491282e-09, 1.9042958944609687e-17, 6.289447096292396e-26],
    [1.3227502405643463, -2.4473389426127312e-09, -9.657011257912856e-18, -3.178983338147919e-26],
    [1.8357618600130081, 3.077219257185959e-09, -1.6011167464493592e-17, 4.8680806757902855e-26],
];

/// Cosine and sine of `x`; NaN if it is infinite or NaN.
#[inline(always)]
fn circle(x: f32) -> (f64, f64) {
    let x = x as f64;
    let size = x.abs();
    let (one, two, three) = (size >= 2.0_f64.powi(50), size >= 2.0_f64.powi(76), size >= 2.0_f64.powi(102));
    let select = |j: [f64; 4]| {
        let low = if one { j[1] } else { j[0] };
        let high = if three { j[3] } else { j[2] };
        if two { high } else { low }
    };
    let scaled = x * select([1.0, Scale::power_of_two(-26), Scale::power_of_two(-52), Scale::power_of_two(-78)]);
    let product = |part: usize| scaled * select(QUARTER_TURNS.map(|parts| parts[part]));

    // The first two products have whole quarter turns; of what is left the sum is not exact, so its error is kept.
    let (first, second) = (product(0), product(1));
    let (first_whole, first_turns) = first.nearest();
    let (second_whole, second_turns) = second.nearest();
    let (first, second) = (first - first_whole, second - second_whole);
    let sum = first + second;
    let part = sum - first;
    let lost = (first - (sum - part)) + (second - part);
    let (sum_whole, sum_turns) = sum.nearest();
    let t = (sum - sum_whole) + (lost + (product(2) + product(3)));
    let turns = first_turns.wrapping_add(second_turns).wrapping_add(sum_turns);

    let r = t * std::f64::consts::FRAC_PI_2;
    let square = r * r;
    let sine = r + r * square * polynomial(square, SINE);
    let cosine = 1.0 + square * (square * polynomial(square, COSINE) - 0.5);
    let (cosine, sine) = if turns & 1 == 0 { (cosine, sine) } else { (sine, cosine) };
    // Each quarter turn maps (cosine, sine) to (-sine, cosine).
    let cosine = if (turns + 1) & 2 == 0 { cosine } else { -cosine };
    let sine = if turns & 2 == 0 { sine } else { -sine };
    (cosine, sine)
}

/// `(sin(r) - r) / r^3` in `r^2`.
const SINE: [f64; 4] = [-0.16666666663844049, 0.008333331870341349, -0.00019840084376422702, 2.724962008007533e-06];
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
