//! [`Element`] and [`Real`] for `f16` and `bf16`, which compute in `f32`.

use half::{bf16, f16};

use super::conversion::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16, f64_to_f32_odd};
use super::{Element, Real};
use crate::simd::{narrow_slice, widen_slice};

/// The mathematical constants, rounded once from `f64`.
macro_rules! half_constants {
    ($($name:ident),*) => {
        $(const $name: Self = Self::from_f64_const(std::f64::consts::$name);)*
    };
}

macro_rules! impl_real_half {
    ($half:ident, $widen:ident, $narrow:ident) => {
        impl Element for $half {
            const NAME: &'static str = stringify!($half);
            const ZERO: Self = Self::ZERO;
            const ONE: Self = Self::ONE;
            const LOWEST: Self = Self::NEG_INFINITY;
            const HIGHEST: Self = Self::INFINITY;

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                $narrow($widen(self) + $widen(other))
            }

            #[inline(always)]
            fn maximum(self, other: Self) -> Self {
                let larger = if order(self.to_bits()) < order(other.to_bits()) { other } else { self };
                let or_other = if Real::is_nan(other) { other } else { larger };
                if Real::is_nan(self) { self } else { or_other }
            }

            #[inline(always)]
            fn minimum(self, other: Self) -> Self {
                let smaller = if order(other.to_bits()) < order(self.to_bits()) { other } else { self };
                let or_other = if Real::is_nan(other) { other } else { smaller };
                if Real::is_nan(self) { self } else { or_other }
            }
        }

        impl Real for $half {
            type Compute = f32;

            const INFINITY: Self = Self::INFINITY;
            const NEG_INFINITY: Self = Self::NEG_INFINITY;
            const NAN: Self = Self::NAN;
            const NEG_ZERO: Self = Self::NEG_ZERO;
            const EPSILON: Self = Self::EPSILON;
            const MIN_POSITIVE: Self = Self::MIN_POSITIVE;
            const MAX: Self = Self::MAX;
            const MIN: Self = Self::MIN;
            half_constants! {
                PI, TAU, FRAC_PI_2, FRAC_PI_3, FRAC_PI_4, FRAC_PI_6, FRAC_PI_8, FRAC_1_PI, FRAC_2_PI, FRAC_2_SQRT_PI,
                SQRT_2, FRAC_1_SQRT_2, E, LN_2, LN_10, LOG2_E, LOG2_10, LOG10_E, LOG10_2
            }

            #[inline(always)]
            fn widen(self) -> f32 {
                $widen(self)
            }

            #[inline(always)]
            fn narrow(value: f32) -> Self {
                $narrow(value)
            }

            fn widen_slice(from: &[Self], to: &mut [f32]) {
                assert_eq!(from.len(), to.len(), "widen_slice: the lengths differ");
                widen_slice(from, to);
            }

            fn narrow_slice(from: &[f32], to: &mut [Self]) {
                assert_eq!(from.len(), to.len(), "narrow_slice: the lengths differ");
                narrow_slice(from, to);
            }

            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                $narrow(f64_to_f32_odd(value))
            }

            #[inline(always)]
            fn to_f64(self) -> f64 {
                f64::from($widen(self))
            }

            #[inline(always)]
            fn is_nan(self) -> bool {
                self.to_bits() & 0x7fff > <$half>::INFINITY.to_bits()
            }

            #[inline(always)]
            fn is_infinite(self) -> bool {
                self.to_bits() & 0x7fff == <$half>::INFINITY.to_bits()
            }

            #[inline(always)]
            fn is_finite(self) -> bool {
                self.to_bits() & 0x7fff < <$half>::INFINITY.to_bits()
            }

            #[inline(always)]
            fn abs(self) -> Self {
                Self::from_bits(self.to_bits() & 0x7fff)
            }

            #[inline(always)]
            fn copysign(self, sign: Self) -> Self {
                Self::from_bits(self.to_bits() & 0x7fff | sign.to_bits() & 0x8000)
            }

            #[inline(always)]
            fn max(self, other: Self) -> Self {
                self.maximum(other)
            }

            #[inline(always)]
            fn min(self, other: Self) -> Self {
                self.minimum(other)
            }
        }
    };
}

impl_real_half!(f16, f16_to_f32, f32_to_f16);
impl_real_half!(bf16, bf16_to_f32, f32_to_bf16);

/// An integer with the same order as the numbers with these bits; `-0` is below `+0`.
#[inline(always)]
fn order(bits: u16) -> i16 {
    let bits = bits as i16;
    bits ^ ((bits >> 15) & 0x7fff)
}
