//! Arithmetic, element by element, on one array or two.
//!
//! Operations on two arrays broadcast an extent of 1, as NumPy does.

use dahl::prelude::*;

use crate::reference::arithmetic as reference;

/// `out = x + y`, element by element.
#[codelet(R, R, W, broadcast, reference = reference::add, error = rounded)]
pub fn add<T: Real>(x: T, y: T) -> T {
    x + y
}

/// `out = x - y`, element by element.
#[codelet(R, R, W, broadcast, reference = reference::sub, error = rounded)]
pub fn sub<T: Real>(x: T, y: T) -> T {
    x - y
}

/// `out = x * y`, element by element.
#[codelet(R, R, W, broadcast, reference = reference::mul, error = rounded)]
pub fn mul<T: Real>(x: T, y: T) -> T {
    x * y
}

/// `out = x / y`, element by element.
#[codelet(R, R, W, broadcast, reference = reference::div, error = rounded)]
pub fn div<T: Real>(x: T, y: T) -> T {
    x / y
}

/// `out = factor * x`, element by element.
#[codelet(R, W, reference = reference::mul, error = rounded)]
pub fn scale<T: Real>(x: T, factor: T) -> T {
    factor * x
}

/// `out = x + value`, element by element.
#[codelet(R, W, reference = reference::add, error = rounded)]
pub fn add_value<T: Real>(x: T, value: T) -> T {
    x + value
}

/// `out = alpha * x + y`, element by element; `axpy_self` adds to `y`, as in BLAS.
#[codelet(R, R, W, in_place = y, reference = reference::axpy, error = sum(n = 2))]
pub fn axpy<T: Real>(x: T, y: T, alpha: T) -> T {
    alpha * x + y
}

/// `out = -x`, element by element.
#[codelet(R, W, reference = reference::neg, error = rounded)]
pub fn neg<T: Real>(x: T) -> T {
    -x
}

/// `out = |x|`, element by element.
#[codelet(R, W, reference = f64::abs, error = rounded)]
pub fn abs<T: Real>(x: T) -> T {
    x.abs()
}

/// `out = 1` where `x > 0`, `-1` where `x < 0`, 0 where `x` is 0 of either sign; NaN for NaN, as in NumPy.
#[codelet(R, W, reference = reference::sign, error = rounded)]
pub fn sign<T: Real>(x: T) -> T {
    if x > T::ZERO {
        T::ONE
    } else if x < T::ZERO {
        -T::ONE
    } else if x.is_nan() {
        x
    } else {
        T::ZERO
    }
}

/// `out = x * x`, element by element.
#[codelet(R, W, reference = reference::square, error = rounded)]
pub fn square<T: Real>(x: T) -> T {
    x * x
}

/// `out = 1 / x`, element by element.
#[codelet(R, W, reference = f64::recip, error = rounded)]
pub fn recip<T: Real>(x: T) -> T {
    x.recip()
}

/// `out = sqrt(x)`, element by element: NaN below 0.
#[codelet(R, W, reference = f64::sqrt, error = rounded)]
pub fn sqrt<T: Real>(x: T) -> T {
    x.sqrt()
}

/// `out = x^y`, element by element: NaN where `x < 0` and `y` is no integer; 1 where `y` is 0, even if `x` is NaN, as in C.
#[codelet(R, R, W, broadcast, reference = f64::powf, error = ulp(1.1))]
pub fn power<T: Real>(x: T, y: T) -> T {
    x.powf(y)
}

/// `out = x^exponent`, element by element: as [`power`].
#[codelet(R, W, reference = f64::powf, error = ulp(1.1))]
pub fn power_value<T: Real>(x: T, exponent: T) -> T {
    x.powf(exponent)
}
