//! Hyperbolic functions of `f32` and `f64` and their inverses.
//!
//! Near zero an odd function is `x + x^3 * P(x^2)`; farther out it is formed from the exponential function:
//! `tanh(x) = 1 - 2 / (exp(2x) + 1)`, `sinh(x) = h - 1 / (4h)` and `cosh(x) = h + 1 / (4h)` with `h = exp(x) / 2`. The
//! ranges and the coefficients of `tanh` are those of Cephes (S. Moshier, `tanh.c`, `tanhf.c`, 1984-2000); the other
//! polynomials interpolate at Chebyshev nodes. The inverse functions are logarithms of `1 + p` (`ln_1p`), with `p` formed
//! without cancellation, as in FreeBSD's msun (`s_asinh.c`, `e_acosh.c`, `e_atanh.c`).

use super::exponential::{Exponential, limit};
use super::logarithm::Logarithm;
use super::polynomial::horner;

/// Hyperbolic functions and their inverses; the meanings and errors are stated at [`Real`](crate::element::Real).
pub(crate) trait Hyperbolic: Sized {
    fn sinh(self) -> Self;
    fn cosh(self) -> Self;
    fn tanh(self) -> Self;
    fn asinh(self) -> Self;
    fn acosh(self) -> Self;
    fn atanh(self) -> Self;
}

macro_rules! impl_hyperbolic {
    (
        $float:ident,
        large: $large:literal,
        tanh_limit: $tanh_limit:literal,
        tanh_polynomials: [$tanh_numerator:expr, $tanh_denominator:expr],
        sinh_polynomial: $sinh_polynomial:expr,
    ) => {
        impl Hyperbolic for $float {
            #[inline(always)]
            fn sinh(self) -> Self {
                let x = self.abs();
                let h = Exponential::half_exp(x);
                let large = (h - 0.25 / h).copysign(self);
                let square = self * self;
                let small = self + self * square * horner(square, $sinh_polynomial);
                if x < 1.0 { small } else { large }
            }

            #[inline(always)]
            fn cosh(self) -> Self {
                let h = Exponential::half_exp(self.abs());
                h + 0.25 / h
            }

            #[inline(always)]
            fn tanh(self) -> Self {
                let x = limit(self.abs(), 0.0, $tanh_limit);
                let square = self * self;
                // One quotient for both ranges.
                let near = x < 0.625;
                let exp = Exponential::exp(2.0 * x);
                let numerator = if near { square * horner(square, $tanh_numerator) } else { -2.0 };
                let denominator = if near { horner(square, $tanh_denominator) } else { exp + 1.0 };
                let quotient = numerator / denominator;
                let result = if near { x + x * quotient } else { 1.0 + quotient };
                result.copysign(self)
            }

            #[inline(always)]
            fn asinh(self) -> Self {
                let x = self.abs();
                let square = x * x;
                let root = (1.0 + square).sqrt();
                // If the square would overflow, asinh(x) = ln(2x).
                let large = x > $large;
                let p = if large { x } else { x + square / (1.0 + root) };
                let added = if large { std::$float::consts::LN_2 } else { 0.0 };
                (Logarithm::ln_1p(p) + added).copysign(self)
            }

            #[inline(always)]
            fn acosh(self) -> Self {
                let t = self - 1.0;
                let large = self > $large;
                let p = if large { t } else { t + (2.0 * t + t * t).sqrt() };
                let added = if large { std::$float::consts::LN_2 } else { 0.0 };
                // Also false for NaN.
                if self >= 1.0 { Logarithm::ln_1p(p) + added } else { Self::NAN }
            }

            #[inline(always)]
            fn atanh(self) -> Self {
                let x = self.abs();
                (0.5 * Logarithm::ln_1p((x + x) / (1.0 - x))).copysign(self)
            }
        }
    };
}

impl_hyperbolic! {
    f32,
    large: 1.0e9,
    tanh_limit: 20.0,
    tanh_polynomials: [[-0.333_333_28, 0.133_327_62, -0.053_849_805, 0.020_991_95, -0.006_089_118_3], [1.0]],
    sinh_polynomial: [0.166_666_67, 0.008_333_339, 0.000_198_381_02, 2.806_280_2e-6],
}

impl_hyperbolic! {
    f64,
    large: 1.0e18,
    tanh_limit: 40.0,
    tanh_polynomials: [
        [-1.614_687_684_417_084_5e3, -9.928_772_310_019_185e1, -9.643_991_794_250_523e-1],
        [4.844_063_053_251_255e3, 2.235_488_390_601_004_5e3, 1.128_116_784_916_329_3e2, 1.0]
    ],
    sinh_polynomial: [
        0.16666666666666666, 0.008333333333333299, 0.00019841269841324198, 2.7557319191381816e-06, 2.5052117695907823e-08,
        1.6057679623801638e-10, 7.746178593018827e-13,
    ],
}
