//! Binary cross-entropy, of probabilities and of logits, element by element.
//!
//! The target `y` is a probability: 0 and 1, or a number between.

use dahl::prelude::*;

use crate::reference::binary_cross_entropy as reference;

/// The binary cross-entropy of probabilities, `out = -(y * ln(x) + (1 - y) * ln(1 - x))`. The logarithms are at least
/// -100, so that a certain and wrong prediction has a finite loss, as in PyTorch.
///
/// Of logits, [`binary_cross_entropy_with_logits`] is more accurate than this after a sigmoid.
///
/// # Shapes
/// `x`, the prediction, from 0 to 1, `y`, the target, and `out` of one shape.
// The logarithms are off by 1 ulp; then the products, and the sum of terms of one sign.
#[codelet(R, R, W, gradient = binary_cross_entropy_gradient(x, y), reference = reference::binary_cross_entropy, error = ulp(5))]
pub fn binary_cross_entropy<T: Real>(x: T, y: T) -> T {
    let least = T::from_f64(-100.0);
    (y - T::ONE) * (-x).ln_1p().max(least) - y * x.ln().max(least)
}

fn binary_cross_entropy_gradient<T: Real, const N: usize>(
    rule: BinaryCrossEntropyGradient<'_, T, N>,
) -> dahl::Result<()> {
    if let Some(by_x) = rule.by_x {
        *by_x = binary_cross_entropy_backward_init(rule.scope, rule.x, rule.y, rule.gradient)?;
    }
    if let Some(by_y) = rule.by_y {
        *by_y = binary_cross_entropy_backward_target_init(rule.scope, rule.x, rule.gradient)?;
    }
    Ok(())
}

/// The gradient of [`binary_cross_entropy`] by `x`: `out = gradient * (x - y) / max(x * (1 - x), 1e-12)`; the bound is
/// PyTorch's.
#[codelet(R, R, R, W, in_place = gradient, reference = reference::binary_cross_entropy_backward, error = ulp(5))]
pub fn binary_cross_entropy_backward<T: Real>(x: T, y: T, gradient: T) -> T {
    gradient * ((x - y) / ((T::ONE - x) * x).max(T::from_f64(1e-12)))
}

/// The gradient of [`binary_cross_entropy`] by `y`: `out = gradient * (ln(1 - x) - ln(x))`, with logarithms of at least
/// -100.
#[codelet(
    R, R, W, in_place = gradient,
    reference = reference::binary_cross_entropy_backward_target,
    error = sum(n = 6, terms = reference::binary_cross_entropy_backward_target_terms)
)]
pub fn binary_cross_entropy_backward_target<T: Real>(x: T, gradient: T) -> T {
    let least = T::from_f64(-100.0);
    gradient * ((-x).ln_1p().max(least) - x.ln().max(least))
}

/// The binary cross-entropy of logits, `out = max(x, 0) - x * y + ln(1 + exp(-|x|))`: that of the probability
/// `sigmoid(x)`, without overflow, and with all digits where the prediction is nearly certain.
///
/// # Shapes
/// `x`, the logits, `y`, the target, and `out` of one shape.
// All terms have one sign. As `softplus`; then two products and a sum.
#[codelet(R, R, W, reference = reference::binary_cross_entropy_with_logits, error = ulp(6))]
pub fn binary_cross_entropy_with_logits<T: Real>(x: T, y: T) -> T {
    // Of -|x|; by a branch, whose derivative at 0 is that of the function.
    let power = (if x < T::ZERO { x } else { -x }).exp();
    let linear = if x < T::ZERO { -x * y } else { x * (T::ONE - y) };
    linear + power.ln_1p()
}

/// [`binary_cross_entropy_with_logits`], with a weight of the positive targets:
/// `out = (1 - y) * x + (1 + (weight - 1) * y) * ln(1 + exp(-x))`. Extents of 1 are broadcast.
///
/// # Shapes
/// `x`, the logits, `y`, the target, `weight`, and `out` of one shape.
#[codelet(
    R, R, R, W, broadcast,
    reference = reference::binary_cross_entropy_with_logits_weighted,
    error = ulp(8)
)]
pub fn binary_cross_entropy_with_logits_weighted<T: Real>(x: T, y: T, weight: T) -> T {
    let power = (if x < T::ZERO { x } else { -x }).exp();
    let linear = if x < T::ZERO { -x * (weight * y) } else { x * (T::ONE - y) };
    linear + (T::ONE - y + weight * y) * power.ln_1p()
}
