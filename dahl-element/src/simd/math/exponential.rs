//! Exponential functions of `f32` and `f64`.
//!
//! `exp(x) = 2^n * exp(r)` with `n` the integer nearest to `x / ln(2)` and `r = x - n * ln(2)`, `|r| <= ln(2) / 2`,
//! where `ln(2)` is subtracted in two parts so that `r` is accurate (Cody and Waite, *Software Manual for the Elementary
//! Functions*, 1980, chapter 6). `exp(r) = 1 + r + r^2 * P(r)`, where `P` interpolates at Chebyshev nodes, which is
//! within a small factor of the best polynomial. `exp2` needs no such reduction, and `exp_m1` leaves the one out until
//! the end: `2^n * (p + (1 - 2^-n))` with `p = exp(r) - 1`.

use super::polynomial::{horner, polynomial};
use super::scale::Scale;

/// Exponential functions; the meanings and errors are stated at [`Real`](crate::element::Real).
pub(crate) trait Exponential: Sized {
    fn exp(self) -> Self;
    fn exp_nonpositive(self) -> Self;
    fn exp2(self) -> Self;
    fn exp_m1(self) -> Self;
    /// `exp(self) / 2`, which is finite for slightly larger numbers than `exp(self)`.
    fn half_exp(self) -> Self;
    /// `exp(self + low) * (factor - lost)`, rounded once if it is subnormal; for `self` and `low` of at most 0, whose sum is in
    /// the range of exponents, `low` small, a factor of about 1 or somewhat less, and an error of it.
    fn exp_product(self, low: Self, factor: Self, lost: Self) -> Self;
}

/// The factors of `exp(x) = mantissa * 2^n`.
macro_rules! exp_parts {
    ($float:ident, $x:expr, $low:literal, $high:literal, $ln_2_high:literal, $ln_2_low:literal, $polynomial:expr) => {{
        let x: $float = limit($x, $low, $high);
        let (k, n) = (x * std::$float::consts::LOG2_E).nearest();
        let r = (x - k * $ln_2_high) - k * $ln_2_low;
        (1.0 + (r + r * r * polynomial(r, $polynomial)), n)
    }};
}

macro_rules! impl_exponential {
    (
        $float:ident,
        ln_2: [$ln_2_high:literal, $ln_2_low:literal],
        exp: [$exp_low:literal, $exp_high:literal],
        exp2: [$exp2_low:literal, $exp2_high:literal],
        exp_m1: $exp_m1_low:literal,
        exp_polynomial: $exp_polynomial:expr,
        exp2_polynomial: $exp2_polynomial:expr,
    ) => {
        impl Exponential for $float {
            #[inline(always)]
            fn exp(self) -> Self {
                let (mantissa, n) =
                    exp_parts!($float, self, $exp_low, $exp_high, $ln_2_high, $ln_2_low, $exp_polynomial);
                mantissa.scale(n)
            }

            #[inline(always)]
            fn exp_nonpositive(self) -> Self {
                let (mantissa, n) =
                    exp_parts!($float, self, $exp_low, 0.0, $ln_2_high, $ln_2_low, $exp_polynomial);
                mantissa.scale_down(n)
            }

            #[inline(always)]
            fn half_exp(self) -> Self {
                let (mantissa, n) =
                    exp_parts!($float, self, $exp_low, $exp_high, $ln_2_high, $ln_2_low, $exp_polynomial);
                mantissa.scale(n.wrapping_sub(1))
            }

            #[inline(always)]
            fn exp_product(self, low: Self, factor: Self, lost: Self) -> Self {
                let (k, n) = ((self + low) * std::$float::consts::LOG2_E).nearest();
                let r = (self - k * $ln_2_high) + (low - k * $ln_2_low);
                (factor + (factor * (r + r * r * polynomial(r, $exp_polynomial)) - lost)).scale_down(n)
            }

            #[inline(always)]
            fn exp2(self) -> Self {
                let x = limit(self, $exp2_low, $exp2_high);
                let (k, n) = x.nearest();
                let r = x - k;
                (1.0 + r * horner(r, $exp2_polynomial)).scale(n)
            }

            #[inline(always)]
            fn exp_m1(self) -> Self {
                // Below this, the result is -1.
                let x = limit(self, $exp_m1_low, $exp_high);
                let (k, n) = (x * std::$float::consts::LOG2_E).nearest();
                let high = x - k * $ln_2_high;
                let low = k * $ln_2_low;
                let r = high - low;
                let lost = (high - r) - low;
                let p = r + (lost + r * r * horner(r, $exp_polynomial));
                // 2^-n is negligible if n is large, and may then be out of range.
                let inverse = if k > 100.0 { 0.0 } else { $float::power_of_two(n.wrapping_neg()) };
                let result = (p + (1.0 - inverse)).scale(n);
                if self == 0.0 { self } else { result }
            }
        }
    };
}

/// `x` limited to the bounds; NaN for NaN.
#[inline(always)]
pub(super) fn limit<F: PartialOrd>(x: F, low: F, high: F) -> F {
    let x = if x < low { low } else { x };
    if x > high { high } else { x }
}

impl_exponential! {
    f32,
    ln_2: [0.693_145_75, 1.428_606_8e-6],
    exp: [-104.0, 90.0],
    exp2: [-151.0, 129.0],
    exp_m1: -18.0,
    exp_polynomial: [0.5, 0.166_666_67, 0.041666463, 0.008_333_310_5, 0.001_393_373_1, 0.000_198_910_8],
    exp2_polynomial: [std::f32::consts::LN_2, 0.240_226_5, 0.055_503_57, 0.009_618_082, 0.001_339_097_9, 0.000_154_532_62],
}

impl_exponential! {
    f64,
    ln_2: [0.6931471805598903, 5.497923018708371e-14],
    exp: [-746.0, 711.0],
    exp2: [-1076.0, 1025.0],
    exp_m1: -38.0,
    exp_polynomial: EXP_SERIES,
    exp2_polynomial: [
        std::f64::consts::LN_2, 0.24022650695910097, 0.0555041086648216, 0.009618129107606715, 0.0013333558146416842,
        0.0001540353044202707, 1.525273382999124e-05, 1.3215442410711872e-06, 1.0178062351388103e-07,
        7.072621356539349e-09, 4.4549794711760616e-10,
    ],
}

/// `(exp(r) - 1 - r) / r^2` in `r`, for `f64`.
pub(super) const EXP_SERIES: [f64; 10] = [
    0.5,
    0.16666666666666669,
    0.041666666666623824,
    0.008333333333330039,
    0.0013888888917367081,
    0.00019841269863171557,
    2.4801521057868204e-05,
    2.7557268276905696e-06,
    2.7620201591031547e-07,
    2.5100472505694996e-08,
];
