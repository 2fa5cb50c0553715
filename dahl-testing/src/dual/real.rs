//! The functions of [`Dual`], with their derivatives.

use dahl_core::element::{Element, Real};

use super::{Dual, number, times};
use crate::double_double::DoubleDouble;

macro_rules! constants {
    ($($name:ident)*) => {
        $(const $name: Self = Self::constant(DoubleDouble::$name);)*
    };
}

/// Functions with a derivative, from the argument `x` and the value `y`.
macro_rules! functions {
    ($($name:ident |$x:pat_param, $y:pat_param| $derivative:expr;)*) => {$(
        fn $name(self) -> Self {
            let value = self.value.$name();
            let ($x, $y) = (self.value, value);
            self.chain(value, $derivative)
        }
    )*};
}

/// Functions whose derivative is 0.
macro_rules! steps {
    ($($name:ident)*) => {
        $(fn $name(self) -> Self {
            Self::constant(self.value.$name())
        })*
    };
}

macro_rules! predicates {
    ($($name:ident)*) => {
        $(fn $name(self) -> bool {
            self.value.$name()
        })*
    };
}

impl Real for Dual {
    type Compute = Self;

    constants! {
        INFINITY NEG_INFINITY NAN NEG_ZERO EPSILON MIN_POSITIVE MAX MIN PI TAU FRAC_PI_2 FRAC_PI_3 FRAC_PI_4 FRAC_PI_6
        FRAC_PI_8 FRAC_1_PI FRAC_2_PI FRAC_2_SQRT_PI SQRT_2 FRAC_1_SQRT_2 E LN_2 LN_10 LOG2_E LOG2_10 LOG10_E LOG10_2
    }

    predicates! { is_nan is_infinite is_finite is_sign_positive is_sign_negative }

    steps! { signum floor ceil round round_ties_even trunc }

    functions! {
        abs |x, _| if x == DoubleDouble::ZERO { x } else { x.signum() };
        fract |_, _| DoubleDouble::ONE;
        recip |_, y| -(y * y);
        sqrt |_, y| (y + y).recip();
        cbrt |_, y| (number(3.0) * y * y).recip();
        exp |_, y| y;
        exp2 |_, y| y * DoubleDouble::LN_2;
        exp_m1 |x, _| x.exp();
        ln |x, _| x.recip();
        ln_1p |x, _| (x + DoubleDouble::ONE).recip();
        log2 |x, _| DoubleDouble::LOG2_E / x;
        log10 |x, _| DoubleDouble::LOG10_E / x;
        sin |x, _| x.cos();
        cos |x, _| -x.sin();
        tan |_, y| y * y + DoubleDouble::ONE;
        asin |x, _| ((DoubleDouble::ONE - x) * (DoubleDouble::ONE + x)).sqrt().recip();
        acos |x, _| -((DoubleDouble::ONE - x) * (DoubleDouble::ONE + x)).sqrt().recip();
        atan |x, _| (x * x + DoubleDouble::ONE).recip();
        sinh |x, _| x.cosh();
        cosh |x, _| x.sinh();
        tanh |x, _| (x.cosh() * x.cosh()).recip();
        asinh |x, _| (x * x + DoubleDouble::ONE).sqrt().recip();
        acosh |x, _| ((x - DoubleDouble::ONE) * (x + DoubleDouble::ONE)).sqrt().recip();
        atanh |x, _| ((DoubleDouble::ONE - x) * (DoubleDouble::ONE + x)).recip();
        erf |x, _| DoubleDouble::FRAC_2_SQRT_PI * (-(x * x)).exp();
        erfc |x, _| -(DoubleDouble::FRAC_2_SQRT_PI * (-(x * x)).exp());
        to_degrees |_, _| DoubleDouble::ONE.to_degrees();
        to_radians |_, _| DoubleDouble::ONE.to_radians();
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
        Self::constant(value.into())
    }

    fn to_f64(self) -> f64 {
        self.value.to_f64()
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

    /// At a bound, the derivative is that by the value.
    fn clamp(self, low: Self, high: Self) -> Self {
        if self < low {
            low
        } else if self > high {
            high
        } else {
            self
        }
    }

    fn mul_add(self, factor: Self, summand: Self) -> Self {
        self * factor + summand
    }

    fn hypot(self, other: Self) -> Self {
        let value = self.value.hypot(other.value);
        let slope = times(self.value / value, self.slope) + times(other.value / value, other.slope);
        Self { value, slope }
    }

    fn powi(self, exponent: i32) -> Self {
        let derivative = match exponent {
            0 => DoubleDouble::ZERO,
            _ => number(f64::from(exponent)) * self.value.powi(exponent - 1),
        };
        self.chain(self.value.powi(exponent), derivative)
    }

    fn powf(self, exponent: Self) -> Self {
        let value = self.value.powf(exponent.value);
        let by_base = match exponent.value == DoubleDouble::ZERO {
            true => DoubleDouble::ZERO,
            false => exponent.value * self.value.powf(exponent.value - DoubleDouble::ONE),
        };
        let slope = times(by_base, self.slope);
        let by_exponent = if exponent.slope == DoubleDouble::ZERO {
            exponent.slope
        } else {
            times(value * self.value.ln(), exponent.slope)
        };
        Self { value, slope: slope + by_exponent }
    }

    fn log(self, base: Self) -> Self {
        self.ln() / base.ln()
    }

    fn sin_cos(self) -> (Self, Self) {
        (self.sin(), self.cos())
    }

    fn atan2(self, other: Self) -> Self {
        let (y, x) = (self.value, other.value);
        let square = x * x + y * y;
        Self { value: y.atan2(x), slope: times(x / square, self.slope) - times(y / square, other.slope) }
    }
}
