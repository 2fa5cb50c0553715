//! [`Rounded`]: a number, and the error that a computation with rounding has made when it comes to it.
//!
//! Each operation adds what its operands' errors do to its result, to the first order, and one rounding of its own. This is
//! the running error analysis of Wilkinson, "Error analysis revisited" (1986); see also Higham, "Accuracy and Stability of
//! Numerical Algorithms" (2002), section 3.3. Errors are counted in units of the roundoff, so one run of a declaration gives
//! the bound for every compute type.

use std::ops::{Add, Div, Mul, Neg, Sub};

use dahl_core::element::{Element, Real};

use crate::double_double::DoubleDouble;

/// The roundings of a function: those of 4 ULP, the bound of a map whose declaration names none.
const FUNCTION: f64 = 8.0;

/// A number with the bound on its error.
#[derive(Clone, Copy, Debug, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(crate) struct Rounded {
    /// The number itself, as if nothing were rounded.
    pub(crate) value: DoubleDouble,
    /// In units of the roundoff.
    pub(crate) error: f64,
}

impl Rounded {
    /// A number without an error.
    pub(super) const fn exact(value: DoubleDouble) -> Self {
        Self { value, error: 0.0 }
    }

    /// A constant, which is rounded to the compute type.
    pub(super) const fn constant(value: DoubleDouble) -> Self {
        let high = value.rounded();
        Self { value, error: if high.is_finite() { high.abs() } else { 0.0 } }
    }

    /// A number of a declaration, or an argument. It has an error if the narrowest compute type does not have it.
    pub(super) fn literal(value: f64) -> Self {
        let is_narrow = f64::from(value as f32) == value;
        Self { value: value.into(), error: if is_narrow { 0.0 } else { value.abs() } }
    }

    /// The result of an operation, from the error that its operands bring.
    fn result(value: DoubleDouble, brought: f64) -> Self {
        Self { value, error: brought + value.rounded().abs() }
    }

    /// `value`, a function of this number with this derivative.
    pub(super) fn apply(self, value: DoubleDouble, derivative: DoubleDouble) -> Self {
        Self { value, error: product(derivative.rounded(), self.error) + FUNCTION * value.rounded().abs() }
    }

    /// `value`, a function of this number and of another one with these derivatives.
    pub(super) fn apply_two(self, value: DoubleDouble, by_self: f64, (other, by_other): (Self, f64)) -> Self {
        let brought = product(by_self, self.error) + product(by_other, other.error);
        Self { value, error: brought + FUNCTION * value.rounded().abs() }
    }

    /// Whether it is zero, for certain.
    pub(crate) fn is_nothing(self) -> bool {
        self.value == DoubleDouble::ZERO && self.error == 0.0
    }
}

/// `|factor| error`; nothing of no error, also if the factor is infinite.
fn product(factor: f64, error: f64) -> f64 {
    if error == 0.0 { 0.0 } else { factor.abs() * error }
}

impl Neg for Rounded {
    type Output = Self;

    fn neg(self) -> Self {
        Self { value: -self.value, error: self.error }
    }
}

impl Add for Rounded {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        match (self.is_nothing(), other.is_nothing()) {
            (true, _) => other,
            (_, true) => self,
            _ => Self::result(self.value + other.value, self.error + other.error),
        }
    }
}

impl Sub for Rounded {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Rounded {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        let (left, right) = (self.value.rounded(), other.value.rounded());
        Self::result(self.value * other.value, product(right, self.error) + product(left, other.error))
    }
}

impl Div for Rounded {
    type Output = Self;

    fn div(self, other: Self) -> Self {
        let value = self.value / other.value;
        let reciprocal = other.value.rounded().recip();
        let brought = product(reciprocal, self.error) + product(value.rounded() * reciprocal, other.error);
        Self::result(value, brought)
    }
}

/// The functions that derivatives consist of, each with its own derivative.
macro_rules! functions {
    ($($name:ident |$x:pat_param, $y:pat_param| $derivative:expr;)*) => {
        impl Rounded {
            $(pub(super) fn $name(self) -> Self {
                let value = self.value.$name();
                let ($x, $y) = (self.value, value);
                self.apply(value, $derivative)
            })*
        }
    };
}

functions! {
    recip |_, y| -(y * y);
    sqrt |_, y| (y + y).recip();
    exp |_, y| y;
    ln |x, _| x.recip();
    sin |x, _| x.cos();
    cos |x, _| -x.sin();
    sinh |x, _| x.cosh();
    cosh |x, _| x.sinh();
}
