//! [`Element`] and [`Real`] for `f32` and `f64`, which compute in themselves; the functions' code is in `simd::math`.

use super::{Element, Real};
use crate::simd::math::{
    ErrorFunction, Exponential, Hyperbolic, InverseTrigonometric, Logarithm, Power, Rounding, Trigonometric,
};

/// The named methods, each implemented by the function of the same name in the module `$module`.
macro_rules! delegate {
    ($module:ident, $result:ty: $($function:ident $(($($argument:ident),*))?),*) => {$(
        #[inline(always)]
        fn $function(self $($(, $argument: Self)*)?) -> $result {
            $module::$function(self $($(, $argument)*)?)
        }
    )*};
}

/// The mathematical constants, from a type's module of constants.
macro_rules! real_constants {
    ($($consts:ident)::*) => {
        real_constants! {
            $($consts)::*,
            [PI, TAU, FRAC_PI_2, FRAC_PI_3, FRAC_PI_4, FRAC_PI_6, FRAC_PI_8, FRAC_1_PI, FRAC_2_PI, FRAC_2_SQRT_PI,
             SQRT_2, FRAC_1_SQRT_2, E, LN_2, LN_10, LOG2_E, LOG2_10, LOG10_E, LOG10_2]
        }
    };
    ($consts:path, [$($name:ident),*]) => {
        $(const $name: Self = { use $consts as consts; consts::$name };)*
    };
}

macro_rules! impl_real_float {
    ($float:ident) => {
        impl Element for $float {
            const NAME: &'static str = stringify!($float);
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const LOWEST: Self = Self::NEG_INFINITY;
            const HIGHEST: Self = Self::INFINITY;

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self + other
            }

            #[inline(always)]
            fn maximum(self, other: Self) -> Self {
                // Equal numbers differ only if they are zeros: the sign bits select +0.
                let equal = Self::from_bits(self.to_bits() & other.to_bits());
                let larger = if self > other { self } else { other };
                let ordered = if self == other { equal } else { larger };
                if self.is_nan() { self } else { ordered }
            }

            #[inline(always)]
            fn minimum(self, other: Self) -> Self {
                let equal = Self::from_bits(self.to_bits() | other.to_bits());
                let smaller = if self < other { self } else { other };
                let ordered = if self == other { equal } else { smaller };
                if self.is_nan() { self } else { ordered }
            }
        }

        impl Real for $float {
            type Compute = Self;

            const INFINITY: Self = Self::INFINITY;
            const NEG_INFINITY: Self = Self::NEG_INFINITY;
            const NAN: Self = Self::NAN;
            const NEG_ZERO: Self = -0.0;
            const EPSILON: Self = Self::EPSILON;
            const MIN_POSITIVE: Self = Self::MIN_POSITIVE;
            const MAX: Self = Self::MAX;
            const MIN: Self = Self::MIN;
            real_constants!(std::$float::consts);

            #[inline(always)]
            fn widen(self) -> Self {
                self
            }

            #[inline(always)]
            fn narrow(value: Self) -> Self {
                value
            }

            fn widen_slice(from: &[Self], to: &mut [Self]) {
                to.copy_from_slice(from);
            }

            fn narrow_slice(from: &[Self], to: &mut [Self]) {
                to.copy_from_slice(from);
            }

            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                value as Self
            }

            #[inline(always)]
            fn to_f64(self) -> f64 {
                self as f64
            }

            #[inline(always)]
            fn max(self, other: Self) -> Self {
                Element::maximum(self, other)
            }

            #[inline(always)]
            fn min(self, other: Self) -> Self {
                Element::minimum(self, other)
            }

            #[inline(always)]
            fn powi(self, exponent: i32) -> Self {
                Power::powi(self, exponent)
            }

            #[inline(always)]
            fn exp_below_slice(values: &mut [Self], largest: Self) {
                for value in values {
                    *value = (*value - largest).exp_nonpositive();
                }
            }

            #[inline(always)]
            fn log(self, base: Self) -> Self {
                Real::ln(self) / Real::ln(base)
            }

            #[inline(always)]
            fn sin_cos(self) -> (Self, Self) {
                Trigonometric::sin_cos(self)
            }

            delegate! { $float, bool:
                is_nan, is_infinite, is_finite, is_normal, is_sign_positive, is_sign_negative
            }
            delegate! { $float, $float: abs, signum, mul_add(factor, summand), copysign(sign), recip, sqrt, to_degrees, to_radians }
            delegate! { Rounding, $float: floor, ceil, round, round_ties_even, trunc, fract }
            delegate! { Power, $float: powf(exponent), cbrt, hypot(other) }
            delegate! { Exponential, $float: exp, exp2, exp_m1 }
            delegate! { Logarithm, $float: ln, ln_1p, log2, log10 }
            delegate! { Trigonometric, $float: sin, cos, tan }
            delegate! { InverseTrigonometric, $float: asin, acos, atan, atan2(other) }
            delegate! { Hyperbolic, $float: sinh, cosh, tanh, asinh, acosh, atanh }
            delegate! { ErrorFunction, $float: erf, erfc }
        }
    };
}

impl_real_float!(f32);
impl_real_float!(f64);
