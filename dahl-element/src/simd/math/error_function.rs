//! The error function of `f32` and `f64` and its complement.
//!
//! `erfc(x) = exp(-x^2) * (1 + s * P(s)) / (1 + 2x)` for `x >= 0`, with `s = x / (x + k)`, which maps all of them to a short
//! interval, on which `(1 + 2x) * exp(x^2) * erfc(x)`, between 1 and 1.3, is smooth (after M. Shepherd and J. Laframboise,
//! *Chebyshev approximation of (1 + 2x) exp(x^2) erfc x in 0 <= x < infinity*, 1981). Near 0, where `erfc` is a little below 1,
//! `s` is small, and so is what an error of `P` adds. An error of `x^2` would be multiplied by `x^2` in the result: the
//! square is formed in two parts. `erfc(-x) = 2 - erfc(x)`.
//!
//! `erf(x) = 1 - erfc(x)` from 1 on; up to there, where this cancels, `erf(x) = x + x * N(x^2)`. `N` and `P` interpolate at
//! Chebyshev nodes.

use super::exponential::{Exponential, limit};
use super::polynomial::{horner, polynomial};

/// The error function; the meanings and errors are stated at [`Real`](crate::element::Real).
pub(crate) trait ErrorFunction: Sized {
    fn erf(self) -> Self;
    fn erfc(self) -> Self;
}

macro_rules! impl_error_function {
    (
        $float:ident,
        end: $end:literal,
        high_mask: $high_mask:literal,
        near_polynomial: $near_polynomial:expr,
        k: $k:literal,
        center: $center:literal,
        tail_polynomial: $tail_polynomial:expr,
    ) => {
        const _: () = {
            /// `erf(x) - x`, up to 1.
            #[inline(always)]
            fn near(x: $float) -> $float {
                x * horner(x * x, $near_polynomial)
            }

            /// `erfc(|x|)`.
            #[inline(always)]
            fn tail(x: $float) -> $float {
                // Farther out the result is 0.
                let x = limit(x.abs(), 0.0, $end);
                let s = x / (x + $k);
                // The square of the high part is exact.
                let high = $float::from_bits(x.to_bits() & $high_mask);
                let low = (x - high) * (x + high);
                let smooth = 1.0 + s * polynomial(s - $center, $tail_polynomial);
                let below = 1.0 + 2.0 * x;
                let factor = smooth / below;
                // The sum below has lost this. It is divided by that sum: by about the inverse of the factor, since `smooth` is near 1.
                let lost = (2.0 * x - (below - 1.0)) * factor * factor;
                (-(high * high)).exp_product(-low, factor, lost)
            }

            impl ErrorFunction for $float {
                #[inline(always)]
                fn erf(self) -> Self {
                    let far = (1.0 - tail(self)).copysign(self);
                    // False for NaN, which `far` propagates. The sum would lose the sign of -0.
                    let near = if self == 0.0 { self } else { self + near(self) };
                    if self.abs() < 1.0 { near } else { far }
                }

                #[inline(always)]
                fn erfc(self) -> Self {
                    let tail = tail(self);
                    if self < 0.0 { 2.0 - tail } else { tail }
                }
            }
        };
    };
}

impl_error_function! {
    f32,
    end: 10.5,
    high_mask: 0xffff_f000,
    near_polynomial: [
        0.128_379_17, -0.376_126_26, 0.112_835_94, -0.026_854_211, 0.005_189_087_2, -0.000_801_686_43, 7.875_875e-5,
    ],
    k: 3.0,
    center: 0.625,
    tail_polynomial: [
        0.348_401_64, -1.009_757_5, 1.707_045_8, -2.141_615_9, 2.035_027_5, -1.347_045_7, 0.404_626_07,
        0.203_075_74, -0.607_119_2, -0.294_842_45,
    ],
}

impl_error_function! {
    f64,
    end: 28.0,
    high_mask: 0xffff_ffff_f800_0000,
    near_polynomial: [
        0.1283791670955126, -0.3761263890318375, 0.11283791670954879, -0.026866170645076792, 0.0052239776248180145,
        -0.000854832698083379, 0.0001205533111164271, -1.4925595266831182e-05, 1.6461000484121368e-06,
        -1.6350312701054695e-07, 1.4659775274047436e-08, -1.1372848856791674e-09, 5.957176147748911e-11,
    ],
    k: 3.75,
    center: 0.6875,
    tail_polynomial: [
        0.2736888697419779, -0.7436911292042009, 1.310597634887705, -1.8716042639265917, 2.281093693416421,
        -2.3954327948851204, 2.138384383455883, -1.556685244481667, 0.8261302060048148,
        -0.18591691322363008, -0.17692113057003958, 0.2261808137766857, -0.08570050551277357,
        -0.05744213505414163, 0.08274894437837374, -0.017635022409160598, -0.022027252914697752,
        0.0917811830415532, 0.09066517027781762, 0.01173977476655472, -0.01683642850439553,
        -0.006023062224175313,
    ],
}
