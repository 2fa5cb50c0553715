//! Comparison and selection, element by element. Operations on two arrays broadcast an extent of 1, as NumPy does.
//!
//! A mask is an array of `u8`: 0 is false, every other number is true. Comparisons give 0 and 1.

use dahl::prelude::*;

use crate::reference::comparison as reference;

/// `out = 1` where `x == y`, else 0; zeros of both signs are equal, NaN equals nothing.
#[codelet(R, R, W, broadcast, reference = reference::equal, error = rounded)]
pub fn equal<T: Real>(x: T, y: T) -> u8 {
    if x == y { 1 } else { 0 }
}

/// `out = 1` where `x != y`, else 0; NaN differs from everything.
#[codelet(R, R, W, broadcast, reference = reference::not_equal, error = rounded)]
pub fn not_equal<T: Real>(x: T, y: T) -> u8 {
    if x != y { 1 } else { 0 }
}

/// `out = 1` where `x < y`, else 0, also beside NaN.
#[codelet(R, R, W, broadcast, reference = reference::less, error = rounded)]
pub fn less<T: Real>(x: T, y: T) -> u8 {
    if x < y { 1 } else { 0 }
}

/// `out = 1` where `x <= y`, else 0, also beside NaN.
#[codelet(R, R, W, broadcast, reference = reference::less_equal, error = rounded)]
pub fn less_equal<T: Real>(x: T, y: T) -> u8 {
    if x <= y { 1 } else { 0 }
}

/// `out = 1` where `x > y`, else 0, also beside NaN.
#[codelet(R, R, W, broadcast, reference = reference::greater, error = rounded)]
pub fn greater<T: Real>(x: T, y: T) -> u8 {
    if x > y { 1 } else { 0 }
}

/// `out = 1` where `x >= y`, else 0, also beside NaN.
#[codelet(R, R, W, broadcast, reference = reference::greater_equal, error = rounded)]
pub fn greater_equal<T: Real>(x: T, y: T) -> u8 {
    if x >= y { 1 } else { 0 }
}

/// `out = 1` where both masks are not 0, else 0.
#[codelet(R, R, W, broadcast, reference = reference::logical_and, error = rounded)]
pub fn logical_and(x: u8, y: u8) -> u8 {
    if x != 0 && y != 0 { 1 } else { 0 }
}

/// `out = x` where `mask` is not 0, else `y`.
#[codelet(R, R, R, W, broadcast, reference = reference::select, error = rounded)]
pub fn select<T: Real>(mask: u8, x: T, y: T) -> T {
    if mask != 0 { x } else { y }
}

/// The larger of two; NaN if either is NaN, and `+0` is above `-0`.
#[codelet(R, R, W, broadcast, reference = reference::maximum, error = rounded)]
pub fn maximum<T: Real>(x: T, y: T) -> T {
    x.max(y)
}

/// The smaller of two; NaN if either is NaN, and `-0` is below `+0`.
#[codelet(R, R, W, broadcast, reference = reference::minimum, error = rounded)]
pub fn minimum<T: Real>(x: T, y: T) -> T {
    x.min(y)
}

/// `out = x` limited to `low ..= high`; NaN stays NaN. If `low` is above `high`, all become `high`.
#[codelet(R, W, reference = reference::clip, error = rounded)]
pub fn clip<T: Real>(x: T, low: T, high: T) -> T {
    x.clamp(low, high)
}
