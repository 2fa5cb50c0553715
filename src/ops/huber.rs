//! Losses that are quadratic near zero and linear far from it: [`huber`] and [`smooth_l1`], element by element.

use dahl::prelude::*;

use crate::reference::huber as reference;

/// The Huber loss of `d = x - y`: `out = d^2 / 2` where `|d| < delta`, else `delta * (|d| - delta / 2)` (Huber 1964,
/// *Robust Estimation of a Location Parameter*).
///
/// # Shapes
/// `x`, the prediction, `y`, the target, and `out` of one shape.
// In the linear part, the difference is at least half of its first term.
#[codelet(R, R, W, check(delta > 0.0), reference = reference::huber, error = ulp(5))]
pub fn huber<T: Real>(x: T, y: T, delta: f64) -> T {
    let half = T::from_f64(0.5);
    let bound = T::from_f64(delta);
    let difference = x - y;
    let size = difference.abs();
    if size < bound { half * (difference * difference) } else { bound * (size - half * bound) }
}

/// The smooth L1 loss of `d = x - y`: `out = d^2 / (2 beta)` where `|d| < beta`, else `|d| - beta / 2` (Girshick 2015,
/// *Fast R-CNN*, section 2.3). It is [`huber`] over `beta`, and the absolute error if `beta` is 0.
///
/// # Shapes
/// `x`, the prediction, `y`, the target, and `out` of one shape.
#[codelet(R, R, W, check(beta >= 0.0), reference = reference::smooth_l1, error = ulp(5))]
pub fn smooth_l1<T: Real>(x: T, y: T, beta: f64) -> T {
    let half = T::from_f64(0.5);
    let bound = T::from_f64(beta);
    let difference = x - y;
    let size = difference.abs();
    if size < bound { half * (difference * difference) / bound } else { size - half * bound }
}
