//! The operators of [`DoubleDouble`].

use std::ops::{Add, Div, Mul, Neg, Rem, Sub};

use super::DoubleDouble;
use dahl_core::element::{Element, Real};

impl Neg for DoubleDouble {
    type Output = Self;

    fn neg(self) -> Self {
        Self::new(-self.high, -self.low)
    }
}

impl Add for DoubleDouble {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let high = Self::two_sum(self.high, other.high);
        if !high.high.is_finite() {
            return high;
        }
        let low = Self::two_sum(self.low, other.low);
        let sum = Self::quick_sum(high.high, high.low + low.high);
        Self::quick_sum(sum.high, low.low + sum.low)
    }
}

impl Sub for DoubleDouble {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for DoubleDouble {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        let high = Self::two_product(self.high, other.high);
        if !high.high.is_finite() || high.high == 0.0 {
            return high;
        }
        let lows = self.high.mul_add(other.low, self.low * other.low);
        let low = self.low.mul_add(other.high, lows);
        Self::quick_sum(high.high, high.low + low)
    }
}

impl Div for DoubleDouble {
    type Output = Self;

    /// Long division: three quotients of `f64`.
    fn div(self, other: Self) -> Self {
        let first = self.high / other.high;
        let product = other * Self::from(first);
        if first == 0.0 || !first.is_finite() || !product.high.is_finite() {
            return Self::from(first);
        }
        let rest = self - product;
        let second = rest.high / other.high;
        let rest = rest - other * Self::from(second);
        let third = rest.high / other.high;
        Self::quick_sum(first, second) + Self::from(third)
    }
}

impl Rem for DoubleDouble {
    type Output = Self;

    /// The remainder of the division rounded toward zero, for quotients of up to 100 bits.
    fn rem(self, other: Self) -> Self {
        if other.high.is_infinite() || !self.high.is_finite() || other.high == 0.0 || self.high == 0.0 {
            return Self::new(self.high % other.high, if other.high.is_infinite() { self.low } else { 0.0 });
        }
        let mut rest = self - (self / other).trunc() * other;
        // The quotient was rounded, possibly to the next integer.
        if rest != Self::ZERO && rest.is_sign_negative() != self.is_sign_negative() {
            rest += other.abs().copysign(self);
        }
        if rest.abs() >= other.abs() {
            rest -= other.abs().copysign(self);
        }
        if rest == Self::ZERO { Self::ZERO.copysign(self) } else { rest }
    }
}

/// The operators that follow from others, of a number type.
macro_rules! derived_operators {
    ($number:ty) => {
        derived_operators!(
            $number: AddAssign add_assign +, SubAssign sub_assign -, MulAssign mul_assign *, DivAssign div_assign /,
            RemAssign rem_assign %
        );

        impl std::iter::Sum for $number {
            fn sum<I: Iterator<Item = Self>>(values: I) -> Self {
                values.fold(<Self as dahl_core::element::Element>::ZERO, std::ops::Add::add)
            }
        }

        impl<'a> std::iter::Sum<&'a Self> for $number {
            fn sum<I: Iterator<Item = &'a Self>>(values: I) -> Self {
                values.copied().sum()
            }
        }

        impl std::iter::Product for $number {
            fn product<I: Iterator<Item = Self>>(values: I) -> Self {
                values.fold(<Self as dahl_core::element::Element>::ONE, std::ops::Mul::mul)
            }
        }
    };
    ($number:ty: $($trait:ident $method:ident $operator:tt),*) => {$(
        impl std::ops::$trait for $number {
            fn $method(&mut self, other: Self) {
                *self = *self $operator other;
            }
        }
    )*};
}

pub(crate) use derived_operators;

derived_operators!(DoubleDouble);
