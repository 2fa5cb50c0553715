//! [`Real`] of [`DoubleDouble`]: its constants, and its functions by name.

use super::DoubleDouble;
use dahl_core::element::{Element, Real};

/// Constants as the nearest `f64` and the remainder.
macro_rules! constants {
    ($($name:ident: $low:expr),* $(,)?) => {
        $(const $name: Self = Self::new(std::f64::consts::$name, $low);)*
    };
}

/// Degrees of a radian.
const DEGREES: DoubleDouble = DoubleDouble::new(57.29577951308232, -1.9878495670576283e-15);

impl Real for DoubleDouble {
    type Compute = Self;

    const INFINITY: Self = Self::new(f64::INFINITY, 0.0);
    const NEG_INFINITY: Self = Self::new(f64::NEG_INFINITY, 0.0);
    const NAN: Self = Self::new(f64::NAN, 0.0);
    const NEG_ZERO: Self = Self::new(-0.0, 0.0);
    /// 2^-105, the distance of neighbours if both parts are full.
    const EPSILON: Self = Self::new(f64::EPSILON * f64::EPSILON / 2.0, 0.0);
    const MIN_POSITIVE: Self = Self::new(f64::MIN_POSITIVE, 0.0);
    const MAX: Self = Self::new(f64::MAX, f64::MAX * (f64::EPSILON / 8.0));
    const MIN: Self = Self::new(f64::MIN, f64::MIN * (f64::EPSILON / 8.0));
    constants! {
        PI: 1.2246467991473532e-16,
        TAU: 2.4492935982947064e-16,
        FRAC_PI_2: 6.123233995736766e-17,
        FRAC_PI_3: -1.072081766451091e-16,
        FRAC_PI_4: 3.061616997868383e-17,
        FRAC_PI_6: -5.360408832255455e-17,
        FRAC_PI_8: 1.5308084989341915e-17,
        FRAC_1_PI: -1.9678676675182486e-17,
        FRAC_2_PI: -3.935735335036497e-17,
        FRAC_2_SQRT_PI: 1.533545961316588e-17,
        SQRT_2: -9.667293313452913e-17,
        FRAC_1_SQRT_2: -4.833646656726457e-17,
        E: 1.4456468917292502e-16,
        LN_2: 2.3190468138462996e-17,
        LN_10: -2.1707562233822494e-16,
        LOG2_E: 2.0355273740931033e-17,
        LOG2_10: 1.661617516973592e-16,
        LOG10_E: 1.098319650216765e-17,
        LOG10_2: -2.8037281277851704e-18,
    }

    fn widen(self) -> Self {
        self
    }

    fn narrow(value: Self) -> Self {
        value
    }

    fn widen_slice(from: &[Self], to: &mut [Self]) {
        to.copy_from_slice(from);
    }

    fn narrow_slice(from: &[Self], to: &mut [Self]) {
        to.copy_from_slice(from);
    }

    fn from_f64(value: f64) -> Self {
        Self::from(value)
    }

    fn to_f64(self) -> f64 {
        self.high
    }

    fn is_nan(self) -> bool {
        self.high.is_nan()
    }

    fn is_infinite(self) -> bool {
        self.high.is_infinite()
    }

    fn is_finite(self) -> bool {
        self.high.is_finite()
    }

    fn is_sign_positive(self) -> bool {
        self.high.is_sign_positive()
    }

    fn is_sign_negative(self) -> bool {
        self.high.is_sign_negative()
    }

    fn abs(self) -> Self {
        if self.high.is_sign_negative() { -self } else { self }
    }

    fn signum(self) -> Self {
        Self::from(self.high.signum())
    }

    fn copysign(self, sign: Self) -> Self {
        if self.is_sign_negative() == sign.is_sign_negative() { self } else { -self }
    }

    fn max(self, other: Self) -> Self {
        Element::maximum(self, other)
    }

    fn min(self, other: Self) -> Self {
        Element::minimum(self, other)
    }

    fn floor(self) -> Self {
        let high = self.high.floor();
        if high == self.high { Self::quick_sum(high, self.low.floor()) } else { Self::from(high) }
    }

    fn ceil(self) -> Self {
        let high = self.high.ceil();
        if high == self.high { Self::quick_sum(high, self.low.ceil()) } else { Self::from(high) }
    }

    fn round(self) -> Self {
        (self.abs() + Self::from(0.5)).floor().copysign(self)
    }

    fn round_ties_even(self) -> Self {
        let up = (self.abs() + Self::from(0.5)).floor();
        let is_tie = up - self.abs() == Self::from(0.5);
        let is_odd = up.scale(-1).fract() != Self::ZERO;
        let even = if is_tie && is_odd { up - Self::ONE } else { up };
        even.copysign(self)
    }

    fn trunc(self) -> Self {
        self.abs().floor().copysign(self)
    }

    fn fract(self) -> Self {
        self - self.trunc()
    }

    /// The product and the sum, each with its error.
    fn mul_add(self, factor: Self, summand: Self) -> Self {
        self * factor + summand
    }

    fn recip(self) -> Self {
        Self::ONE / self
    }

    fn sqrt(self) -> Self {
        self.square_root()
    }

    fn cbrt(self) -> Self {
        self.cube_root()
    }

    fn hypot(self, other: Self) -> Self {
        self.hypotenuse(other)
    }

    fn powi(self, exponent: i32) -> Self {
        self.integer_power(exponent)
    }

    fn powf(self, exponent: Self) -> Self {
        self.power(exponent)
    }

    fn exp(self) -> Self {
        self.exponential()
    }

    fn exp2(self) -> Self {
        self.power_of_two()
    }

    fn exp_m1(self) -> Self {
        self.exponential_less_one()
    }

    fn ln(self) -> Self {
        self.logarithm()
    }

    fn ln_1p(self) -> Self {
        self.logarithm_of_one_more()
    }

    fn log2(self) -> Self {
        self.binary_logarithm()
    }

    fn log10(self) -> Self {
        self.logarithm() * Self::LOG10_E
    }

    fn log(self, base: Self) -> Self {
        self.logarithm() / base.logarithm()
    }

    fn sin(self) -> Self {
        self.sine_and_cosine().0
    }

    fn cos(self) -> Self {
        self.sine_and_cosine().1
    }

    fn sin_cos(self) -> (Self, Self) {
        self.sine_and_cosine()
    }

    fn tan(self) -> Self {
        let (sine, cosine) = self.sine_and_cosine();
        sine / cosine
    }

    fn asin(self) -> Self {
        if self.high == 0.0 { self } else { self.angle_of_point(self.other_leg()) }
    }

    fn acos(self) -> Self {
        self.other_leg().angle_of_point(self)
    }

    fn atan(self) -> Self {
        self.arctangent()
    }

    fn atan2(self, other: Self) -> Self {
        self.angle_of_point(other)
    }

    fn sinh(self) -> Self {
        self.hyperbolic_sine()
    }

    fn cosh(self) -> Self {
        self.hyperbolic_cosine()
    }

    fn tanh(self) -> Self {
        self.hyperbolic_tangent()
    }

    fn asinh(self) -> Self {
        self.inverse_hyperbolic_sine()
    }

    fn acosh(self) -> Self {
        self.inverse_hyperbolic_cosine()
    }

    fn atanh(self) -> Self {
        self.inverse_hyperbolic_tangent()
    }

    fn to_degrees(self) -> Self {
        self * DEGREES
    }

    fn to_radians(self) -> Self {
        self / DEGREES
    }

    fn erf(self) -> Self {
        self.error_function()
    }

    fn erfc(self) -> Self {
        self.complementary_error_function()
    }
}
