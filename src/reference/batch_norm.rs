//! Normalisation with statistics that are given.

pub(crate) fn batch_norm_inference(
    input: f64,
    weight: f64,
    bias: f64,
    mean: f64,
    variance: f64,
    epsilon: f64,
) -> f64 {
    (input - mean) / (variance + epsilon).sqrt() * weight + bias
}

pub(crate) fn batch_norm_inference_terms(
    input: f64,
    weight: f64,
    bias: f64,
    mean: f64,
    variance: f64,
    epsilon: f64,
) -> f64 {
    (input.abs() + mean.abs()) / (variance + epsilon).sqrt() * weight.abs() + bias.abs()
}
