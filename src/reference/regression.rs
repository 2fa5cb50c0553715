//! Losses of predicted numbers.

pub(crate) fn mean_squared_error(x: &[f64], y: &[f64], out: &mut [f64], factor: f64) {
    let squares = x.iter().zip(y).flat_map(|(x, y)| {
        let difference = x - y;
        let square = difference * difference;
        // The rounding error of the square.
        let lost = difference.mul_add(difference, -square);
        [square, if lost.is_nan() { 0.0 } else { lost }]
    });
    out[0] += factor * sum(squares);
}

/// With the magnitudes of both terms of each difference.
pub(crate) fn mean_squared_error_magnitude(x: &[f64], y: &[f64], out: &mut [f64], factor: f64) {
    out[0] += factor.abs() * x.iter().zip(y).map(|(x, y)| (x.abs() + y.abs()).powi(2)).sum::<f64>();
}

pub(crate) fn mean_squared_error_backward(x: f64, y: f64, factor: f64) -> f64 {
    2.0 * factor * (x - y)
}

pub(crate) fn mean_absolute_error(x: &[f64], y: &[f64], out: &mut [f64], factor: f64) {
    out[0] += factor * sum(x.iter().zip(y).map(|(x, y)| (x - y).abs()));
}

/// With the magnitudes of both terms of each difference.
pub(crate) fn mean_absolute_error_magnitude(x: &[f64], y: &[f64], out: &mut [f64], factor: f64) {
    out[0] += factor.abs() * x.iter().zip(y).map(|(x, y)| x.abs() + y.abs()).sum::<f64>();
}

pub(crate) fn mean_absolute_error_backward(x: f64, y: f64, factor: f64) -> f64 {
    match x.partial_cmp(&y) {
        Some(order) => f64::from(order as i8) * factor,
        None => f64::NAN,
    }
}

pub(crate) fn squared_error(x: f64, y: f64) -> f64 {
    (x - y) * (x - y)
}

pub(crate) fn absolute_error(x: f64, y: f64) -> f64 {
    (x - y).abs()
}

/// The compensated sum (A. Neumaier, 1974).
fn sum(terms: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0_f64, 0.0);
    for term in terms {
        let next = sum + term;
        lost += if sum.abs() >= term.abs() { (sum - next) + term } else { (term - next) + sum };
        sum = next;
    }
    if lost.is_nan() { sum } else { sum + lost }
}
