//! Losses of pairs that are alike or not.

pub(crate) fn hinge_embedding(x: f64, y: f64, margin: f64) -> f64 {
    let apart = if margin < x { 0.0 } else { margin - x };
    match y {
        1.0 => x,
        -1.0 => apart,
        _ => apart + x,
    }
}

pub(crate) fn hinge_embedding_terms(x: f64, _: f64, margin: f64) -> f64 {
    2.0 * x.abs() + margin.abs()
}

fn cosine(dot: f64, left: f64, right: f64) -> f64 {
    dot / ((left + 1e-12) * (right + 1e-12)).sqrt()
}

pub(crate) fn cosine_embedding(dot: f64, left: f64, right: f64, y: f64, margin: f64) -> f64 {
    let cosine = cosine(dot, left, right);
    match y {
        1.0 => 1.0 - cosine,
        -1.0 if cosine < margin => 0.0,
        -1.0 => cosine - margin,
        _ => 0.0,
    }
}

pub(crate) fn cosine_embedding_terms(dot: f64, left: f64, right: f64, _: f64, margin: f64) -> f64 {
    1.0 + margin.abs() + cosine(dot, left, right).abs()
}
