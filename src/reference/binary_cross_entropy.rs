//! Binary cross-entropy.

/// The logarithm, of at least -100; NaN stays NaN.
fn bounded(logarithm: f64) -> f64 {
    if logarithm < -100.0 { -100.0 } else { logarithm }
}

pub(crate) fn binary_cross_entropy(x: f64, y: f64) -> f64 {
    (y - 1.0) * bounded((-x).ln_1p()) - y * bounded(x.ln())
}

pub(crate) fn binary_cross_entropy_backward(x: f64, y: f64, gradient: f64) -> f64 {
    let product = x * (1.0 - x);
    gradient * ((x - y) / if product < 1e-12 { 1e-12 } else { product })
}

pub(crate) fn binary_cross_entropy_backward_target(x: f64, gradient: f64) -> f64 {
    gradient * (bounded((-x).ln_1p()) - bounded(x.ln()))
}

pub(crate) fn binary_cross_entropy_backward_target_terms(x: f64, gradient: f64) -> f64 {
    gradient.abs() * (bounded((-x).ln_1p()).abs() + bounded(x.ln()).abs())
}

pub(crate) fn binary_cross_entropy_with_logits(x: f64, y: f64) -> f64 {
    binary_cross_entropy_with_logits_weighted(x, y, 1.0)
}

pub(crate) fn binary_cross_entropy_with_logits_weighted(x: f64, y: f64, weight: f64) -> f64 {
    // -ln(sigmoid(x)) and -ln(1 - sigmoid(x)).
    let of_one = if x < 0.0 { -x + x.exp().ln_1p() } else { (-x).exp().ln_1p() };
    let of_zero = if x < 0.0 { x.exp().ln_1p() } else { x + (-x).exp().ln_1p() };
    weight * y * of_one + (1.0 - y) * of_zero
}
