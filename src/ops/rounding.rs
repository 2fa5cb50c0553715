//! Rounding to an integer, element by element. Infinities, NaN and the sign of zero stay; derivatives are 0.

use dahl::prelude::*;

/// The nearest integer to `x`, ties to even, as in NumPy and PyTorch: `round(2.5) = 2`.
#[codelet(R, W, reference = f64::round_ties_even, error = rounded)]
pub fn round<T: Real>(x: T) -> T {
    x.round_ties_even()
}

/// The largest integer that is not above `x`.
#[codelet(R, W, reference = f64::floor, error = rounded)]
pub fn floor<T: Real>(x: T) -> T {
    x.floor()
}

/// The smallest integer that is not below `x`.
#[codelet(R, W, reference = f64::ceil, error = rounded)]
pub fn ceil<T: Real>(x: T) -> T {
    x.ceil()
}

/// The integer part of `x`, rounded toward zero.
#[codelet(R, W, reference = f64::trunc, error = rounded)]
pub fn trunc<T: Real>(x: T) -> T {
    x.trunc()
}
