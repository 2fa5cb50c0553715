//! The error function of `f32` and `f64` and its complement.
//!
//! Up to 1, `erf(x) = x + x * P(x^2)`. Farther out `erfc(x) = exp(-x^2) * Q(t) / (1 + 2x)` with `t = (x - k) / (x + k)`,
//! which maps the whole tail to a short interval, on which `(1 + 2x) * exp(x^2) * erfc(x)` is smooth (M. Shepherd and
//! J. Laframboise, *Chebyshev approximation of (1 + 2x) exp(x^2) erfc x in 0 <= x < infinity*, 1981), and
//! `erf(x) = 1 - erfc(x)`. An error of `x^2` would be multiplied by `x^2` in the result: the square is formed in two parts.
//! `P` and `Q` interpolate at Chebyshev nodes.

use super::exponential::{Exponential, limit};
use super::polynomial::polynomial;

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
        middle: $middle:literal,
        tail_polynomial: $tail_polynomial:expr,
    ) => {
        const _: () = {
            /// `erf(x) - x`, up to 1.
            #[inline(always)]
            fn near(x: $float) -> $float {
                x * polynomial(x * x, $near_polynomial)
            }

            /// `erfc(|x|)`, from 3/4 on.
            #[inline(always)]
            fn tail(x: $float) -> $float {
                // Farther out the result is 0.
                let x = limit(x.abs(), 0.0, $end);
                let t = (x - $middle) / (x + $middle);
                // The square of the high part is exact.
                let high = $float::from_bits(x.to_bits() & $high_mask);
                let low = (x - high) * (x + high);
                (-(high * high)).exp_product(-low, polynomial(t, $tail_polynomial) / (1.0 + 2.0 * x))
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
                    let far = if self < 0.0 { 2.0 - tail } else { tail };
                    if self.abs() < 0.75 { (1.0 - self) - near(self) } else { far }
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
    middle: 2.5,
    tail_polynomial: [
        1.264_838_2, -0.122_356_77, -0.099_024_44, 0.157_630_5, -0.102_969_45, 0.032_752_39, 0.000_951_726_05,
        -0.004_332_419, 0.000_422_812_2, 0.000_508_711_56,
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
    middle: 3.75,
    tail_polynomial: [
        1.2375126308378275, -0.140240598585547, 0.0035854154854662117, 0.08227673849014855, -0.108803930141889,
        0.09230432116029043, -0.05869339858545759, 0.02836227741972733, -0.009746579620608832, 0.0017556258541943834,
        0.0002937142026737192, -0.0002901541543103373, 5.164627310457071e-05, 2.2384837583517986e-05,
        -1.1434769507599218e-05, -9.759970867848045e-07, 1.7320781208758568e-06, -5.1655406329843575e-08,
        -2.3401277846105656e-07, 1.64052927943359e-08, 2.1637523750844718e-08,
    ],
}
