//! [`DoubleDouble`]: a real number as the sum of two `f64`, about 32 decimal digits, in which a declaration is compared
//! with itself.
//!
//! The arithmetic is that of Joldes, Muller and Popescu, "Tight and rigorous error bounds for basic building blocks of
//! double-word arithmetic" (2017); the functions are in `functions`, the reduction of angles in `angle`.
//!
//! Relative errors: 2^-103 for the operators and `sqrt`, 1e-30 for the functions, and 1e-29 for powers and the
//! exponentials of large numbers. They hold while the numbers stay above 1e-290 in magnitude: below, the low part
//! falls under the smallest `f64`.

mod angle;
mod functions;
mod operators;
mod real;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod values;

use std::fmt;

use dahl_core::argument::Argument;
use dahl_core::element::Element;
pub(crate) use operators::derived_operators;

/// A real number as an unevaluated sum: `high` is the sum, rounded to `f64`.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct DoubleDouble {
    high: f64,
    low: f64,
}

impl DoubleDouble {
    /// The sum of two numbers, with `high` the rounded sum.
    const fn new(high: f64, low: f64) -> Self {
        Self { high, low }
    }

    /// The number, rounded to `f64`.
    pub(crate) const fn rounded(self) -> f64 {
        self.high
    }

    /// `high + low`, if `low` is the smaller one in magnitude.
    fn quick_sum(high: f64, low: f64) -> Self {
        let sum = high + low;
        // Zeros keep their sign, and infinities have no low part.
        if low == 0.0 || !sum.is_finite() {
            return Self::new(sum_of_zero(high, low, sum), 0.0);
        }
        Self::new(sum, low - (sum - high))
    }

    /// `a + b`, exactly (Knuth's two-sum).
    fn two_sum(a: f64, b: f64) -> Self {
        let sum = a + b;
        if !sum.is_finite() {
            return Self::new(sum, 0.0);
        }
        let b_part = sum - a;
        Self::new(sum, (a - (sum - b_part)) + (b - b_part))
    }

    /// `a * b`, exactly unless it underflows.
    fn two_product(a: f64, b: f64) -> Self {
        let product = a * b;
        if !product.is_finite() || product == 0.0 {
            return Self::new(product, 0.0);
        }
        Self::new(product, a.mul_add(b, -product))
    }

    /// `self * 2^exponent`, exactly unless it overflows or underflows.
    fn scale(self, exponent: i32) -> Self {
        let half = exponent / 2;
        let (first, second) = (power_of_two(half), power_of_two(exponent - half));
        Self::quick_sum(self.high * first * second, self.low * first * second)
    }
}

/// Without a low part the sum is `high` itself: `-0 + 0` is `0`.
fn sum_of_zero(high: f64, low: f64, sum: f64) -> f64 {
    if low == 0.0 { high } else { sum }
}

/// `2^exponent` for exponents of normal numbers; zero or infinity otherwise.
fn power_of_two(exponent: i32) -> f64 {
    match exponent {
        ..-1022 => 0.0,
        -1022..=1023 => f64::from_bits(((exponent + 1023) as u64) << 52),
        1024.. => f64::INFINITY,
    }
}

impl From<f64> for DoubleDouble {
    fn from(value: f64) -> Self {
        Self::new(value, 0.0)
    }
}

impl fmt::Display for DoubleDouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.low == 0.0 {
            write!(f, "{:e}", self.high)
        } else {
            write!(f, "{:e}{:+e}", self.high, self.low)
        }
    }
}

impl Argument for DoubleDouble {
    fn encode(self, bytes: &mut [u8]) {
        bytes.copy_from_slice(bytemuck::bytes_of(&self));
    }

    fn decode(bytes: &[u8]) -> Self {
        bytemuck::pod_read_unaligned(bytes)
    }
}

impl Element for DoubleDouble {
    const NAME: &'static str = "double-double";
    const ZERO: Self = Self::new(0.0, 0.0);
    const ONE: Self = Self::new(1.0, 0.0);
    const LOWEST: Self = Self::new(f64::NEG_INFINITY, 0.0);
    const HIGHEST: Self = Self::new(f64::INFINITY, 0.0);

    fn plus(self, other: Self) -> Self {
        self + other
    }

    fn maximum(self, other: Self) -> Self {
        if self.high == other.high && self.low == other.low {
            // Of two zeros, the positive one.
            return Self::new(Element::maximum(self.high, other.high), self.low);
        }
        if self.high.is_nan() || self > other { self } else { other }
    }

    fn minimum(self, other: Self) -> Self {
        if self.high == other.high && self.low == other.low {
            return Self::new(Element::minimum(self.high, other.high), self.low);
        }
        if self.high.is_nan() || self < other { self } else { other }
    }
}
