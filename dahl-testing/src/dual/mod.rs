//! [`Dual`]: a number with its derivative along a direction, both in double-double. A map that computes with such numbers
//! computes its derivative too, without a step size: what a gradient is compared with to all its digits.
//!
//! The derivatives of the functions are written here once more, and share no code with those that the macro knows. At kinks
//! and ties they are those of `docs/gradients.md`.
//!
//! Both have a bound on the error that rounding has made when it comes to them, so that one run gives what to compare with and
//! how closely, in every element type.
//!
//! The method is forward accumulation with dual numbers: Wengert, "A simple automatic derivative evaluation program" (1964).

mod operators;
mod real;
mod rounded;

#[cfg(test)]
mod tests;

use std::fmt;

use dahl_core::argument::Argument;
use dahl_core::element::{Element, Real};

use super::double_double::DoubleDouble;
use super::gradient::Outcome;
use rounded::Rounded;

/// A number with its derivative along a direction.
#[derive(Clone, Copy, Debug, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Dual {
    value: Rounded,
    slope: Rounded,
}

/// The elements of several arrays.
type Values = [Vec<f64>];

/// The directional derivative of a map, for [`Gradient::tangent`](crate::gradient::Gradient::tangent).
///
/// `map` gets the arrays of the inputs, and writes the output, of the shape of the first input: `|x, out|
/// Exp::cpu(x[0], out)`.
pub fn forward_mode(map: impl Fn(&[&[Dual]], &mut [Dual])) -> impl Fn(&Values, &Values) -> Outcome<Vec<f64>> {
    move |inputs, directions| {
        let number = |(&value, &slope)| Dual::moving(value, slope);
        let inputs = inputs.iter().zip(directions);
        let inputs: Vec<Vec<Dual>> =
            inputs.map(|(input, direction)| input.iter().zip(direction).map(number).collect()).collect();
        let inputs: Vec<&[Dual]> = inputs.iter().map(Vec::as_slice).collect();
        let mut out = vec![Dual::ZERO; inputs[0].len()];
        map(&inputs, &mut out);
        Ok(out.into_iter().map(|number| number.slope.value.to_f64()).collect())
    }
}

impl Dual {
    const fn exact(value: DoubleDouble) -> Self {
        Self { value: Rounded::exact(value), slope: Rounded::exact(DoubleDouble::ZERO) }
    }

    const fn constant(value: DoubleDouble) -> Self {
        Self { value: Rounded::constant(value), slope: Rounded::exact(DoubleDouble::ZERO) }
    }

    /// An element of an array, with its slope.
    pub(crate) fn moving(value: f64, slope: f64) -> Self {
        Self { value: Rounded::exact(value.into()), slope: Rounded::exact(slope.into()) }
    }

    /// The number.
    pub(crate) fn value(self) -> Rounded {
        self.value
    }

    /// The derivative.
    pub(crate) fn slope(self) -> Rounded {
        self.slope
    }

    /// A function of this number with this value and derivative.
    fn chain(self, value: Rounded, derivative: Rounded) -> Self {
        Self { value, slope: times(derivative, self.slope) }
    }
}

/// `derivative * slope`; nothing flows along no slope, also where the derivative is infinite.
fn times(derivative: Rounded, slope: Rounded) -> Rounded {
    if slope.is_nothing() { slope } else { derivative * slope }
}

fn number(value: f64) -> Rounded {
    Rounded::exact(value.into())
}

impl fmt::Display for Dual {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} with the derivative {}", self.value.value, self.slope.value)
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
    const ZERO: Self = Self::exact(DoubleDouble::ZERO);
    const ONE: Self = Self::exact(DoubleDouble::ONE);
    const LOWEST: Self = Self::exact(DoubleDouble::LOWEST);
    const HIGHEST: Self = Self::exact(DoubleDouble::HIGHEST);

    fn plus(self, other: Self) -> Self {
        self + other
    }

    fn maximum(self, other: Self) -> Self {
        self.choose(other, Element::maximum(self.value.value, other.value.value), self > other)
    }

    fn minimum(self, other: Self) -> Self {
        self.choose(other, Element::minimum(self.value.value, other.value.value), self < other)
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
        let error = if takes_self { self.value.error } else { other.value.error };
        Self { value: Rounded { value, error }, slope }
    }
}
