//! The operators of [`Dual`].

use std::cmp::Ordering;
use std::ops::{Add, Div, Mul, Neg, Rem, Sub};

use dahl_core::element::Real;

use super::rounded::Rounded;
use super::{Dual, times};
use crate::double_double::derived_operators;

/// Comparisons are those of the values: a program takes the same side with and without derivatives.
impl PartialEq for Dual {
    fn eq(&self, other: &Self) -> bool {
        self.value.value == other.value.value
    }
}

impl PartialOrd for Dual {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.value.value.partial_cmp(&other.value.value)
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
        let (left, right) = (self.value.value, other.value.value);
        let quotient = Rounded::exact((left / right).trunc());
        let value = self.value.apply_two(left % right, 1.0, (other.value, quotient.value.rounded()));
        Self { value, slope: self.slope - times(quotient, other.slope) }
    }
}

derived_operators!(Dual);
