//! The Kullback-Leibler divergence, element by element (Kullback and Leibler 1951, *On Information and Sufficiency*).
//!
//! `x` is the logarithm of the predicted probability, as in PyTorch.

use dahl::prelude::*;

use crate::reference::divergence as reference;

/// `out = y * (ln(y) - x)`, and 0 where the target probability `y` is 0.
///
/// # Shapes
/// `x`, the logarithm of the prediction, `y`, the target, and `out` of one shape.
#[codelet(R, R, W, reference = reference::kl_divergence, error = sum(n = 4, terms = reference::kl_divergence_terms))]
pub fn kl_divergence<T: Real>(x: T, y: T) -> T {
    if y == T::ZERO { T::ZERO } else { y * (y.ln() - x) }
}

/// `out = exp(y) * (y - x)`: [`kl_divergence`] of a target that is given by its logarithm.
///
/// # Shapes
/// `x`, the logarithm of the prediction, `y`, the logarithm of the target, and `out` of one shape.
#[codelet(R, R, W, reference = reference::kl_divergence_of_logarithms, error = ulp(5))]
pub fn kl_divergence_of_logarithms<T: Real>(x: T, y: T) -> T {
    y.exp() * (y - x)
}
