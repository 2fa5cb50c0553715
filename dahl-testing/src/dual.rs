//! [`Dual`]: a number with its derivative along a direction, both in double-double. A map that computes with such numbers
//! computes its derivative too, without a step size: what a gradient is compared with to all its digits.
//!
//! The derivatives of the functions are written here once more, and share no code with those that the macro knows. At kinks
//! and ties they are those of `docs/gradients.md`.
//!
//! The method is forward accumulation with dual numbers: Wengert, "A simple automatic derivative evaluation program" (1964).

use std::cmp::Ordering;
use std::fmt;
use std::iter::{Product, Sum};
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Rem, RemAssign, Sub, SubAssign};

use dahl_core::argument::Argument;
use dahl_core::element::{Element, Real};

use super::double_double::DoubleDouble;
use super::gradient::Outcome;

/// A number with its derivative along a direction.
#[derive(Clone, Copy, Debug, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Dual {
    value: DoubleDouble,
    slope: DoubleDouble,
}

/// The elements of several arrays.
type Values = [Vec<f64>];

/// The directional derivative of a map, for [`Gradient::tangent`](crate::gradient::Gradient::tangent).
///
/// `map` gets the arrays of the inputs, and writes the output, of the shape of the first input: `|x, out|
/// Exp::cpu(x[0], out)`.
pub fn forward_mode(map: impl Fn(&[&[Dual]], &mut [Dual])) -> impl Fn(&Values, &Values) -> Outcome<Vec<f64>> {
    move |inputs, directions| {
        let number = |(&value, &slope): (&f64, &f64)| Dual { value: value.into(), slope: slope.into() };
        let inputs = inputs.iter().zip(directions);
        let inputs: Vec<Vec<Dual>> =
            inputs.map(|(input, direction)| input.iter().zip(direction).map(number).collect()).collect();
        let inputs: Vec<&[Dual]> = inputs.iter().map(Vec::as_slice).collect();
        let mut out = vec![Dual::ZERO; inputs[0].len()];
        map(&inputs, &mut out);
        Ok(out.into_iter().map(|number| number.slope.to_f64()).collect())
    }
}

impl Dual {
    const fn constant(value: DoubleDouble) -> Self {
        Self { value, slope: DoubleDouble::ZERO }
    }

    /// A function of this number with this value and derivative.
    fn chain(self, value: DoubleDouble, derivative: DoubleDouble) -> Self {
        Self { value, slope: times(derivative, self.slope) }
    }
}

/// `derivative * slope`; nothing flows along no slope, also where the derivative is infinite.
fn times(derivative: DoubleDouble, slope: DoubleDouble) -> DoubleDouble {
    if slope == DoubleDouble::ZERO { slope } else { derivative * slope }
}

fn number(value: f64) -> DoubleDouble {
    DoubleDouble::from(value)
}

/// Comparisons are those of the values: a program takes the same side with and without derivatives.
impl PartialEq for Dual {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl PartialOrd for Dual {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.value.partial_cmp(&other.value)
    }
}

impl Neg for Dual {
    type Output = Self;

    fn neg(self) -> Self {
        Self { value: -self.value, slope: -self.slope }
    }
}

impl Add for Dual {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { value: self.value + other.value, slope: self.slope + other.slope }
    }
}

impl Sub for Dual {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Dual {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        let slope = times(other.value, self.slope) + times(self.value, other.slope);
        Self { value: self.value * other.value, slope }
    }
}

impl Div for Dual {
    type Output = Self;

    fn div(self, other: Self) -> Self {
        let value = self.value / other.value;
        let numerator = self.slope - times(value, other.slope);
        Self { value, slope: times(other.value.recip(), numerator) }
    }
}

impl Rem for Dual {
    type Output = Self;

    fn rem(self, other: Self) -> Self {
        let quotient = (self.value / other.value).trunc();
        Self { value: self.value % other.value, slope: self.slope - times(quotient, other.slope) }
    }
}

macro_rules! assigning {
    ($($trait:ident $method:ident $operator:tt),*) => {$(
        impl $trait for Dual {
            fn $method(&mut self, other: Self) {
                *self = *self $operator other;
            }
        }
    )*};
}

assigning!(AddAssign add_assign +, SubAssign sub_assign -, MulAssign mul_assign *, DivAssign div_assign /, RemAssign rem_assign %);

impl Sum for Dual {
    fn sum<I: Iterator<Item = Self>>(values: I) -> Self {
        values.fold(Self::ZERO, Add::add)
    }
}

impl<'a> Sum<&'a Self> for Dual {
    fn sum<I: Iterator<Item = &'a Self>>(values: I) -> Self {
        values.copied().sum()
    }
}

impl Product for Dual {
    fn product<I: Iterator<Item = Self>>(values: I) -> Self {
        values.fold(Self::ONE, Mul::mul)
    }
}

impl fmt::Display for Dual {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} with the derivative {}", self.value, self.slope)
    }
}

impl Argument for Dual {
    fn encode(self, bytes: &mut [u8]) {
        bytes.copy_from_slice(bytemuck::bytes_of(&self));
    }

    fn decode(bytes: &[u8]) -> Self {
        bytemuck::pod_read_unaligned(bytes)
    }
}

impl Element for Dual {
    const NAME: &'static str = "dual number";
    const ZERO: Self = Self::constant(DoubleDouble::ZERO);
    const ONE: Self = Self::constant(DoubleDouble::ONE);
    const LOWEST: Self = Self::constant(DoubleDouble::LOWEST);
    const HIGHEST: Self = Self::constant(DoubleDouble::HIGHEST);

    fn plus(self, other: Self) -> Self {
        self + other
    }

    fn maximum(self, other: Self) -> Self {
        self.choose(other, Element::maximum(self.value, other.value), self > other)
    }

    fn minimum(self, other: Self) -> Self {
        self.choose(other, Element::minimum(self.value, other.value), self < other)
    }
}

impl Dual {
    /// One of two numbers, with half of each derivative if they are equal.
    fn choose(self, other: Self, value: DoubleDouble, takes_self: bool) -> Self {
        let slope = match self == other {
            true => (self.slope + other.slope) * number(0.5),
            false if takes_self => self.slope,
            false => other.slope,
        };
        Self { value, slope }
    }
}

macro_rules! constants {
    ($($name:ident)*) => {
        $(const $name: Self = Self::constant(DoubleDouble::$name);)*
    };
}

/// Functions with a derivative, from the argument `x` and the value `y`.
macro_rules! functions {
    ($($name:ident |$x:pat_param, $y:pat_param| $derivative:expr;)*) => {$(
        fn $name(self) -> Self {
            let ($x, $y) = (self.value, self.value.$name());
            self.chain(self.value.$name(), $derivative)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The derivative of a function at a number, and its slope in double-double by a central difference: with a step of
    /// 1e-9 its error is about 1e-18.
    fn assert_slope(
        name: &str,
        at: f64,
        by_dual: impl Fn(Dual) -> Dual,
        f: impl Fn(DoubleDouble) -> DoubleDouble,
    ) {
        let slope = by_dual(Dual { value: at.into(), slope: DoubleDouble::ONE }).slope.to_f64();
        let step = number(1e-9);
        let difference = (f(number(at) + step) - f(number(at) - step)) / (step + step);
        let difference = difference.to_f64();
        assert!(
            (slope - difference).abs() <= 1e-14 * (1.0 + difference.abs()),
            "{name} at {at}: {slope}, {difference}"
        );
    }

    macro_rules! agree {
        ($($name:ident at $at:expr;)*) => {
            $(for at in $at {
                assert_slope(stringify!($name), at, Dual::$name, DoubleDouble::$name);
            })*
        };
    }

    #[test]
    fn derivatives_are_the_slopes_of_the_functions() {
        agree! {
            abs at [-0.5, 2.0]; fract at [0.25, -1.5]; recip at [-0.5, 2.0]; sqrt at [0.5, 9.0]; cbrt at [0.5, 9.0];
            exp at [-2.0, 0.5]; exp2 at [-2.0, 0.5]; exp_m1 at [-2.0, 0.5]; ln at [0.25, 9.0]; ln_1p at [-0.5, 9.0];
            log2 at [0.25, 9.0]; log10 at [0.25, 9.0]; sin at [-2.0, 0.5]; cos at [-2.0, 0.5]; tan at [-1.0, 0.5];
            asin at [-0.5, 0.75]; acos at [-0.5, 0.75]; atan at [-0.5, 3.0]; sinh at [-0.5, 2.0]; cosh at [-0.5, 2.0];
            tanh at [-0.5, 2.0]; asinh at [-0.5, 2.0]; acosh at [1.5, 9.0]; atanh at [-0.5, 0.75];
            erf at [-0.5, 1.5]; erfc at [-0.5, 1.5]; to_degrees at [0.5]; to_radians at [30.0];
            floor at [0.5]; signum at [-2.0];
        }
    }

    #[test]
    fn operators_and_functions_of_two_numbers() {
        let other = || Dual::from_f64(0.75);
        let low = || number(0.75);
        for at in [0.5, 2.0] {
            assert_slope("mul", at, |x| x * x * other(), |x| x * x * low());
            assert_slope("div", at, |x| other() / x - x / other(), |x| low() / x - x / low());
            assert_slope("rem", at, |x| x % other(), |x| x % low());
            assert_slope("rem by", at, |x| Dual::from_f64(5.25) % x, |x| number(5.25) % x);
            assert_slope("max", at, |x| Real::max(x, other()), |x| Real::max(x, low()));
            assert_slope("min", at, |x| Real::min(x, other()), |x| Real::min(x, low()));
            assert_slope("hypot", at, |x| x.hypot(other()), |x| x.hypot(low()));
            assert_slope("powi", at, |x| x.powi(-3), |x| x.powi(-3));
            assert_slope("powf", at, |x| x.powf(other()), |x| x.powf(low()));
            assert_slope("exponent", at, |x| other().powf(x), |x| low().powf(x));
            assert_slope("log", at, |x| x.log(other()), |x| x.log(low()));
            assert_slope("atan2", at, |x| x.atan2(other()), |x| x.atan2(low()));
            assert_slope("angle", at, |x| other().atan2(x), |x| low().atan2(x));
            assert_slope("mul_add", at, |x| x.mul_add(x, other()), |x| x.mul_add(x, low()));
        }
    }

    #[test]
    fn ties_and_kinks_are_shared() {
        let at = |value: f64| Dual { value: value.into(), slope: DoubleDouble::ONE };
        assert_eq!(Real::max(at(1.0), Dual::ONE).slope.to_f64(), 0.5);
        assert_eq!(at(0.0).abs().slope.to_f64(), 0.0);
        assert_eq!(at(1.0).clamp(Dual::ZERO, Dual::ONE).slope.to_f64(), 1.0);
        assert_eq!(at(2.0).powf(Dual::ZERO).slope.to_f64(), 0.0);
    }
}
