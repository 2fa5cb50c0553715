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

/// `out = x` where `mask` is not 0, else `y`.
#[codelet(R, R, R, W, broadcast, reference = reference::select, error = rounded)]
pub fn select<T: Real>(mask: u8, x: T, y: T) -> T {
    if mask != 0 { x } else { y }
}

/// The gradient of [`select`] by `x`: `out = gradient` where `mask` is not 0, else 0. The gradient by `y` is the rest.
#[codelet(R, R, W, in_place = gradient, reference = reference::select_backward, error = rounded)]
pub fn select_backward<T: Real>(mask: u8, gradient: T) -> T {
    if mask != 0 { gradient } else { T::ZERO }
}

/// The larger of two; NaN if either is NaN, and `+0` is above `-0`.
#[codelet(R, R, W, broadcast, reference = reference::maximum, error = rounded)]
pub fn maximum<T: Real>(x: T, y: T) -> T {
    x.max(y)
}

/// The gradient of [`maximum`] by `x`: `out = gradient` where `x > y`, half of it where they are equal, 0 where `x < y`; where
/// either is NaN, the gradient passes, as in PyTorch. With `x` and `y` exchanged it is the gradient by `y`.
#[codelet(R, R, R, W, in_place = gradient, reference = reference::maximum_backward, error = rounded)]
pub fn maximum_backward<T: Real>(x: T, y: T, gradient: T) -> T {
    if x < y {
        T::ZERO
    } else if x == y {
        gradient * T::from_f64(0.5)
    } else {
        gradient
    }
}

/// The smaller of two; NaN if either is NaN, and `-0` is below `+0`.
#[codelet(R, R, W, broadcast, reference = reference::minimum, error = rounded)]
pub fn minimum<T: Real>(x: T, y: T) -> T {
    x.min(y)
}

/// The gradient of [`minimum`] by `x`: `out = gradient` where `x < y`, half of it where they are equal, 0 where `x > y`; where
/// either is NaN, the gradient passes, as in PyTorch. With `x` and `y` exchanged it is the gradient by `y`.
#[codelet(R, R, R, W, in_place = gradient, reference = reference::minimum_backward, error = rounded)]
pub fn minimum_backward<T: Real>(x: T, y: T, gradient: T) -> T {
    if x > y {
        T::ZERO
    } else if x == y {
        gradient * T::from_f64(0.5)
    } else {
        gradient
    }
}

/// `out = x` limited to `low ..= high`; NaN stays NaN. If `low` is above `high`, all become `high`.
#[codelet(R, W, reference = reference::clip, error = rounded)]
pub fn clip<T: Real>(x: T, low: T, high: T) -> T {
    x.clamp(low, high)
}

/// The gradient of [`clip`] by its input: `out = gradient` where `low <= x <= high`, else 0, also where `x` is NaN, as in
/// PyTorch.
#[codelet(R, R, W, in_place = gradient, reference = reference::clip_backward, error = rounded)]
pub fn clip_backward<T: Real>(x: T, gradient: T, low: T, high: T) -> T {
    if low <= x && x <= high { gradient } else { T::ZERO }
}
