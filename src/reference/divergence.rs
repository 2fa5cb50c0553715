//! The Kullback-Leibler divergence.

pub(crate) fn kl_divergence(x: f64, y: f64) -> f64 {
    if y == 0.0 { 0.0 } else { y * (y.ln() - x) }
}

pub(crate) fn kl_divergence_terms(x: f64, y: f64) -> f64 {
    if y == 0.0 { 0.0 } else { y.abs() * (y.ln().abs() + x.abs()) }
}

pub(crate) fn kl_divergence_of_logarithms(x: f64, y: f64) -> f64 {
    y.exp() * (y - x)
}
