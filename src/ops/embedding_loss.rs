//! Losses of pairs that are alike (target 1) or not (target -1): [`hinge_embedding`] of distances, and
//! [`cosine_embedding`] of the angles between vectors.

use dahl::prelude::*;

use crate::reference::embedding_loss as reference;

/// `out = x` where the target `y` is 1, `max(0, margin - x)` where it is -1, and the sum of both elsewhere, as in PyTorch.
///
/// Nothing flows to `y`.
///
/// # Shapes
/// `x`, the distance, `y`, the target, and `out` of one shape.
#[codelet(
    R, R, W,
    reference = reference::hinge_embedding,
    error = sum(n = 2, terms = reference::hinge_embedding_terms)
)]
pub fn hinge_embedding<T: Real>(x: T, y: T, margin: f64) -> T {
    let below = T::from_f64(margin) - x;
    let apart = if below < T::ZERO { T::ZERO } else { below };
    let of_apart = if y == T::ONE { T::ZERO } else { apart };
    let of_alike = if y == -T::ONE { T::ZERO } else { x };
    of_apart + of_alike
}

/// With `cosine = dot / sqrt((left + 1e-12) * (right + 1e-12))`: `out = 1 - cosine` where the target `y` is 1,
/// `max(0, cosine - margin)` where it is -1, else 0, as in PyTorch. Nothing flows to `y`.
///
/// # Shapes
/// `dot`, the inner products, `left` and `right`, the sums of squares of the vectors, `y` and `out` of one shape.
#[codelet(
    R, R, R, R, W,
    reference = reference::cosine_embedding,
    error = sum(n = 8, terms = reference::cosine_embedding_terms)
)]
pub fn cosine_embedding<T: Real>(dot: T, left: T, right: T, y: T, margin: f64) -> T {
    let epsilon = T::from_f64(1e-12);
    let cosine = dot / ((left + epsilon) * (right + epsilon)).sqrt();
    let above = cosine - T::from_f64(margin);
    if y == T::ONE {
        T::ONE - cosine
    } else if y == -T::ONE {
        if above < T::ZERO { T::ZERO } else { above }
    } else {
        T::ZERO
    }
}
