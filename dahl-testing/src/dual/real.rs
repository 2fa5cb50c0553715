//! The functions of [`Dual`], with their derivatives.

use dahl_core::element::{Element, Real};

use super::rounded::Rounded;
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
            let value = self.value.value.$name();
            // The derivative alone, for the error of the value; then the derivative with that error.
            let ($x, $y) = (self.value, Rounded::exact(value));
            let derivative: Rounded = $derivative;
            let value = self.value.apply(value, derivative.value);
            let ($x, $y) = (self.value, value);
            self.chain(value, $derivative)
        }
    )*};
}

/// Functions whose derivative is 0.
macro_rules! steps {
    ($($name:ident)*) => {
        $(fn $name(self) -> Self {
            Self::exact(self.value.value.$name())
        })*
    };
}

macro_rules! predicates {
    ($($name:ident)*) => {
        $(fn $name(self) -> bool {
            self.value.value.$name()
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
        abs |x, _| match x.value == DoubleDouble::ZERO {
            true => Rounded::exact(DoubleDouble::ZERO),
            false => Rounded::exact(x.value.signum()),
        };
        fract |_, _| number(1.0);
        recip |_, y| -(y * y);
        sqrt |_, y| (y + y).recip();
        cbrt |_, y| (number(3.0) * y * y).recip();
        exp |_, y| y;
        exp2 |_, y| y * Rounded::constant(DoubleDouble::LN_2);
        exp_m1 |x, _| x.exp();
        ln |x, _| x.recip();
        ln_1p |x, _| (x + number(1.0)).recip();
        log2 |x, _| Rounded::constant(DoubleDouble::LOG2_E) / x;
        log10 |x, _| Rounded::constant(DoubleDouble::LOG10_E) / x;
        sin |x, _| x.cos();
        cos |x, _| -x.sin();
        tan |_, y| y * y + number(1.0);
        asin |x, _| ((number(1.0) - x) * (number(1.0) + x)).sqrt().recip();
        acos |x, _| -((number(1.0) - x) * (number(1.0) + x)).sqrt().recip();
        atan |x, _| (x * x + number(1.0)).recip();
        sinh |x, _| x.cosh();
        cosh |x, _| x.sinh();
        tanh |_, y| (number(1.0) - y) * (number(1.0) + y);
        asinh |x, _| (x * x + number(1.0)).sqrt().recip();
        acosh |x, _| ((x - number(1.0)) * (x + number(1.0))).sqrt().recip();
        atanh |x, _| ((number(1.0) - x) * (number(1.0) + x)).recip();
        erf |x, _| Rounded::constant(DoubleDouble::FRAC_2_SQRT_PI) * (-(x * x)).exp();
        erfc |x, _| -(Rounded::constant(DoubleDouble::FRAC_2_SQRT_PI) * (-(x * x)).exp());
        to_degrees |_, _| Rounded::constant(DoubleDouble::ONE.to_degrees());
        to_radians |_, _| Rounded::constant(DoubleDouble::ONE.to_radians());
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
        Self { value: Rounded::literal(value), slope: number(0.0) }
    }

    fn to_f64(self) -> f64 {
        self.value.value.to_f64()
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
        let value = self.value.value.hypot(other.value.value);
        let [by_self, by_other] = [self, other].map(|side| (side.value.value / value).rounded());
        let value = self.value.apply_two(value, by_self, (other.value, by_other));
        let slope = times(self.value / value, self.slope) + times(other.value / value, other.slope);
        Self { value, slope }
    }

    fn powi(self, exponent: i32) -> Self {
        let power = |exponent: i32| -> Rounded {
            let value = self.value.value.powi(exponent);
            let less = self.value.value.powi(exponent.saturating_sub(1));
            self.value.apply(value, less * DoubleDouble::from(f64::from(exponent)))
        };
        let derivative = match exponent {
            0 => number(0.0),
            _ => number(f64::from(exponent)) * power(exponent - 1),
        };
        self.chain(power(exponent), derivative)
    }

    fn powf(self, exponent: Self) -> Self {
        let base = self.value;
        let power = |exponent: Rounded| -> Rounded {
            let value = base.value.powf(exponent.value);
            let by_base = exponent.value * base.value.powf(exponent.value - DoubleDouble::ONE);
            let by_exponent = value * base.value.ln();
            base.apply_two(value, by_base.rounded(), (exponent, by_exponent.rounded()))
        };
        let value = power(exponent.value);
        let by_base = match exponent.value.value == DoubleDouble::ZERO {
            true => number(0.0),
            false => exponent.value * power(exponent.value - number(1.0)),
        };
        let slope = times(by_base, self.slope);
        let by_exponent = match exponent.slope.is_nothing() {
            true => exponent.slope,
            false => times(value * base.ln(), exponent.slope),
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
        let (by_y, by_x) = (x / square, y / square);
        let value = y.value.atan2(x.value);
        let value = y.apply_two(value, by_y.value.rounded(), (x, by_x.value.rounded()));
        Self { value, slope: times(by_y, self.slope) - times(by_x, other.slope) }
    }
}
