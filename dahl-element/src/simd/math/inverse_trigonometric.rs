//! Inverse trigonometric functions of `f32` and `f64`.
//!
//! Arctangent: `atan(x) = base + atan(u)` with `u = x`, `(x - 1) / (x + 1)` or `-1 / x`, and `base = 0`, `π / 4` or `π / 2`
//! for `x` up to `tan(π / 8)`, up to `tan(3π / 8)`, and above (Cephes, S. Moshier, `atan.c`, `atanf.c`). Arcsine:
//! `asin(x)` for `x <= 1/2`, and else `π / 2 - 2 asin(sqrt((1 - x) / 2))` (FreeBSD's msun, `e_asin.c`, `e_acos.c`). The
//! kernels `u + u^3 * P(u^2)` are polynomials that interpolate at Chebyshev nodes.

use super::polynomial::horner;

/// Inverse trigonometric functions; the meanings and errors are stated at [`Real`](crate::element::Real).
pub(crate) trait InverseTrigonometric: Sized {
    fn asin(self) -> Self;
    fn acos(self) -> Self;
    fn atan(self) -> Self;
    fn atan2(self, other: Self) -> Self;
}

macro_rules! impl_inverse_trigonometric {
    (
        $float:ident,
        pi: [$pi_high:expr, $pi_low:literal],
        atan_polynomial: $atan_polynomial:expr,
        asin_polynomial: $asin_polynomial:expr,
    ) => {
        const _: () = {
            /// The angle of the point `(x, y)` in the first quadrant, if `y / x` is a number of the compute type.
            #[inline(always)]
            fn first_quadrant(y: $float, x: $float) -> $float {
                // tan(π / 8) and tan(3π / 8).
                let steep = y > 2.414_213_7 * x;
                let middle = y > 0.414_213_57 * x;
                // For angles around π / 4, (y - x) / (y + x).
                let numerator = if middle { y - x } else { y };
                let numerator = if steep { -x } else { numerator };
                let denominator = if middle { y + x } else { x };
                let denominator = if steep { y } else { denominator };
                let base = if middle { $pi_high / 4.0 } else { 0.0 };
                let base = if steep { $pi_high / 2.0 } else { base };
                let base_low = if middle { $pi_low / 4.0 } else { 0.0 };
                let base_low = if steep { $pi_low / 2.0 } else { base_low };
                let u = numerator / denominator;
                let square = u * u;
                base + (u + (u * square * horner(square, $atan_polynomial) + base_low))
            }

            impl InverseTrigonometric for $float {
                #[inline(always)]
                fn asin(self) -> Self {
                    let x = self.abs();
                    let outer = x > 0.5;
                    let square = if outer { 0.5 - 0.5 * x } else { x * x };
                    let u = if outer { square.sqrt() } else { x };
                    let rest = u * square * horner(square, $asin_polynomial);
                    // By way of π / 4, from which 2u is subtracted without error; near 1 directly.
                    let quarter =
                        $pi_high / 4.0 + (($pi_high / 4.0 - 2.0 * u) - (2.0 * rest - $pi_low / 2.0));
                    let right = $pi_high / 2.0 - (2.0 * (u + rest) - $pi_low / 2.0);
                    let far = if x < 0.9 { quarter } else { right };
                    let result = if outer { far } else { u + rest };
                    result.copysign(self)
                }

                #[inline(always)]
                fn acos(self) -> Self {
                    let x = self.abs();
                    let outer = x > 0.5;
                    let square = if outer { 0.5 - 0.5 * x } else { x * x };
                    let u = if outer { square.sqrt() } else { x };
                    let rest = u * square * horner(square, $asin_polynomial);
                    // Outer: 2 asin(u), or π minus that; inner: π / 2 minus or plus asin(x).
                    let signed = u.copysign(self);
                    let middle = $pi_high / 2.0 - (signed - ($pi_low / 2.0 - rest.copysign(self)));
                    let double = 2.0 * (u + rest);
                    let far = if self < 0.0 { $pi_high - (double - $pi_low) } else { double };
                    if outer { far } else { middle }
                }

                #[inline(always)]
                fn atan(self) -> Self {
                    first_quadrant(self.abs(), 1.0).copysign(self)
                }

                #[inline(always)]
                fn atan2(self, other: Self) -> Self {
                    let (y, x) = (self.abs(), other.abs());
                    // So that neither the sums nor the products overflow or underflow, scale the larger one to about 1.
                    let larger = if y > x { y } else { x };
                    let large = larger > 1.0;
                    let scale = if large { $float::MIN_POSITIVE * 4.0 } else { 0.25 / $float::MIN_POSITIVE };
                    let ordinary = $float::MIN_POSITIVE / $float::EPSILON..=$float::MAX / 8.0;
                    let scale = if ordinary.contains(&larger) { 1.0 } else { scale };
                    let (scaled_y, scaled_x) = (y * scale, x * scale);
                    // For two infinities or two zeros the angle is that of equal lengths, or of the axis.
                    let both_infinite = y == $float::INFINITY && x == $float::INFINITY;
                    let scaled_y = if both_infinite { 1.0 } else { scaled_y };
                    let scaled_x = if both_infinite || larger == 0.0 { 1.0 } else { scaled_x };
                    let angle = first_quadrant(scaled_y, scaled_x);
                    let angle = if other.is_sign_negative() { $pi_high - (angle - $pi_low) } else { angle };
                    let angle = if self.is_nan() || other.is_nan() { $float::NAN } else { angle };
                    angle.copysign(self)
                }
            }
        };
    };
}

impl_inverse_trigonometric! {
    f32,
    pi: [std::f32::consts::PI, -8.742278e-8],
    atan_polynomial: [-0.333_333_3, 0.199_995_4, -0.142_639_26, 0.107_434_15, -0.064_508_82],
    asin_polynomial: [0.166_666_66, 0.075_000_95, 0.044_599_32, 0.031_101_728, 0.017143717, 0.033_700_727],
}

impl_inverse_trigonometric! {
    f64,
    pi: [std::f64::consts::PI, 1.2246467991473532e-16],
    atan_polynomial: [
        -0.3333333333333333, 0.19999999999999993, -0.14285714285711504, 0.11111111110753108, -0.09090909066913205,
        0.0769230673260262, -0.06666641944687046, 0.058819241557448235, -0.05258030921384036, 0.04719327142598802,
        -0.04104161972805256, 0.03062934978307762, -0.013911800252787274,
    ],
    asin_polynomial: [
        0.16666666666666666, 0.07499999999999991, 0.04464285714288356, 0.030381944441346388, 0.02237215928067093,
        0.017352757444179825, 0.013965010669331847, 0.011549075679439491, 0.009792863988301035, 0.008135014193193648,
        0.008799140451914983, 0.0003664940923274731, 0.0225861124015735, -0.024063914377949608, 0.030744526924322196,
    ],
}
