//! Rows that are normalized: their mean subtracted, or not, and divided by the root of the mean of their squares.
//!
//! The functions `.._terms` sum the magnitudes of what an element is computed from. The error of a row's mean has an effect
//! to second order only.

use ndarray::{ArrayView1, ArrayViewD, ArrayViewMut1, ArrayViewMutD, Axis};

use super::sum::{Sum, mean_of, sum_of};

/// What the mean leaves of its error of some units, after its correction.
const OF_MEAN: f64 = 1.0 / (1_u64 << 16) as f64;

/// A row: its normalized values, their factor, and their errors in units of the roundoff.
struct Row {
    values: Vec<f64>,
    factor: f64,
    terms: Vec<f64>,
}

impl Row {
    fn new(row: &[f64], epsilon: f64, is_centred: bool) -> Self {
        // By a power of two, so that no square overflows or underflows.
        let largest = row.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
        let unit =
            if largest > 0.0 && largest.is_finite() { 2.0_f64.powf(largest.log2().floor()) } else { 1.0 };
        let row = row.iter().map(|value| value / unit).collect::<Vec<_>>();
        let mean = if is_centred { mean_of(&row) } else { 0.0 };
        let mut centred = row.iter().map(|value| value - mean).collect::<Vec<_>>();
        if is_centred {
            let rest = mean_of(&centred);
            centred.iter_mut().for_each(|value| *value -= rest);
        }
        let mut squares = Sum::default();
        centred.iter().for_each(|value| squares.add_product(*value, *value));
        let factor = 1.0 / (squares.total() / row.len() as f64 + epsilon / unit / unit).sqrt();
        let magnitudes = centred.iter().map(|value| value.abs()).collect::<Vec<_>>();
        let rest = if is_centred { mean_of(&magnitudes) + mean.abs() * OF_MEAN } else { 0.0 };
        Self {
            values: centred.iter().map(|value| value * factor).collect(),
            terms: magnitudes.iter().map(|value| (value + rest) * factor).collect(),
            factor: factor / unit,
        }
    }
}

/// `out = f(row, number)` for each row.
fn map(input: ArrayViewD<'_, f64>, mut out: ArrayViewMutD<'_, f64>, f: impl Fn(&[f64], usize) -> Vec<f64>) {
    let last = Axis(input.ndim() - 1);
    let rows = input.lanes(last).into_iter().zip(out.lanes_mut(last));
    for (number, (row, mut out)) in rows.enumerate() {
        out.iter_mut().zip(f(&row.to_vec(), number)).for_each(|(out, value)| *out = value);
    }
}

/// Each row of `array`.
fn rows(array: ArrayViewD<'_, f64>) -> Vec<Vec<f64>> {
    array.lanes(Axis(array.ndim() - 1)).into_iter().map(|row| row.to_vec()).collect()
}

pub(crate) fn layer_norm(
    input: ArrayViewD<'_, f64>,
    weight: ArrayView1<'_, f64>,
    bias: ArrayView1<'_, f64>,
    out: ArrayViewMutD<'_, f64>,
    epsilon: f64,
) {
    map(input, out, |row, _| {
        let row = Row::new(row, epsilon, true);
        row.values.iter().zip(weight.iter().zip(bias)).map(|(y, (w, b))| y * w + b).collect()
    });
}

pub(crate) fn layer_norm_terms(
    input: ArrayViewD<'_, f64>,
    weight: ArrayView1<'_, f64>,
    bias: ArrayView1<'_, f64>,
    out: ArrayViewMutD<'_, f64>,
    epsilon: f64,
) {
    map(input, out, |row, _| {
        let row = Row::new(row, epsilon, true);
        row.terms.iter().zip(weight.iter().zip(bias)).map(|(y, (w, b))| y * w.abs() + b.abs()).collect()
    });
}

pub(crate) fn rms_norm(
    input: ArrayViewD<'_, f64>,
    weight: ArrayView1<'_, f64>,
    out: ArrayViewMutD<'_, f64>,
    epsilon: f64,
) {
    map(input, out, |row, _| {
        Row::new(row, epsilon, false).values.iter().zip(weight).map(|(y, w)| y * w).collect()
    });
}

pub(crate) fn layer_norm_backward_input(
    input: ArrayViewD<'_, f64>,
    weight: ArrayView1<'_, f64>,
    gradient: ArrayViewD<'_, f64>,
    out: ArrayViewMutD<'_, f64>,
    epsilon: f64,
) {
    backward_input(input, weight, gradient, out, epsilon, true);
}

pub(crate) fn rms_norm_backward_input(
    input: ArrayViewD<'_, f64>,
    weight: ArrayView1<'_, f64>,
    gradient: ArrayViewD<'_, f64>,
    out: ArrayViewMutD<'_, f64>,
    epsilon: f64,
) {
    backward_input(input, weight, gradient, out, epsilon, false);
}

fn backward_input(
    input: ArrayViewD<'_, f64>,
    weight: ArrayView1<'_, f64>,
    gradient: ArrayViewD<'_, f64>,
    out: ArrayViewMutD<'_, f64>,
    epsilon: f64,
    is_centred: bool,
) {
    let gradients = rows(gradient);
    map(input, out, |row, number| {
        let row = Row::new(row, epsilon, is_centred);
        let weighted = gradients[number].iter().zip(weight).map(|(g, w)| g * w).collect::<Vec<_>>();
        let mean = if is_centred { mean_of(&weighted) } else { 0.0 };
        let products = weighted.iter().zip(&row.values).map(|(g, y)| g * y);
        let along = sum_of(products) / weighted.len() as f64;
        weighted.iter().zip(&row.values).map(|(g, y)| row.factor * (g - mean - y * along)).collect()
    });
}

pub(crate) fn layer_norm_backward_input_terms(
    input: ArrayViewD<'_, f64>,
    weight: ArrayView1<'_, f64>,
    gradient: ArrayViewD<'_, f64>,
    out: ArrayViewMutD<'_, f64>,
    epsilon: f64,
) {
    backward_input_terms(input, weight, gradient, out, epsilon, true);
}

pub(crate) fn rms_norm_backward_input_terms(
    input: ArrayViewD<'_, f64>,
    weight: ArrayView1<'_, f64>,
    gradient: ArrayViewD<'_, f64>,
    out: ArrayViewMutD<'_, f64>,
    epsilon: f64,
) {
    backward_input_terms(input, weight, gradient, out, epsilon, false);
}

fn backward_input_terms(
    input: ArrayViewD<'_, f64>,
    weight: ArrayView1<'_, f64>,
    gradient: ArrayViewD<'_, f64>,
    out: ArrayViewMutD<'_, f64>,
    epsilon: f64,
    is_centred: bool,
) {
    let gradients = rows(gradient);
    map(input, out, |row, number| {
        let row = Row::new(row, epsilon, is_centred);
        let weighted = gradients[number].iter().zip(weight).map(|(g, w)| (g * w).abs()).collect::<Vec<_>>();
        let mean = if is_centred { mean_of(&weighted) } else { 0.0 };
        let along = sum_of(weighted.iter().zip(&row.terms).map(|(g, y)| g * y)) / weighted.len() as f64;
        weighted.iter().zip(&row.terms).map(|(g, y)| row.factor * (g + mean + y * along)).collect()
    });
}

pub(crate) fn layer_norm_backward_weight(
    input: ArrayViewD<'_, f64>,
    gradient: ArrayViewD<'_, f64>,
    out: ArrayViewMut1<'_, f64>,
    epsilon: f64,
) {
    backward_weight(input, gradient, out, |row| Row::new(row, epsilon, true).values);
}

pub(crate) fn layer_norm_backward_weight_terms(
    input: ArrayViewD<'_, f64>,
    gradient: ArrayViewD<'_, f64>,
    out: ArrayViewMut1<'_, f64>,
    epsilon: f64,
) {
    let magnitudes = gradient.mapv(f64::abs);
    backward_weight(input, magnitudes.view(), out, |row| Row::new(row, epsilon, true).terms);
}

pub(crate) fn rms_norm_backward_weight(
    input: ArrayViewD<'_, f64>,
    gradient: ArrayViewD<'_, f64>,
    out: ArrayViewMut1<'_, f64>,
    epsilon: f64,
) {
    backward_weight(input, gradient, out, |row| Row::new(row, epsilon, false).values);
}

fn backward_weight(
    input: ArrayViewD<'_, f64>,
    gradient: ArrayViewD<'_, f64>,
    mut out: ArrayViewMut1<'_, f64>,
    normalized: impl Fn(&[f64]) -> Vec<f64>,
) {
    let mut sums = vec![Sum::default(); out.len()];
    sums.iter_mut().zip(&out).for_each(|(sum, old)| sum.add(*old));
    for (row, gradient) in rows(input).iter().zip(rows(gradient)) {
        for (sum, (y, g)) in sums.iter_mut().zip(normalized(row).into_iter().zip(gradient)) {
            sum.add_product(y, g);
        }
    }
    out.iter_mut().zip(sums).for_each(|(out, sum)| *out = sum.total());
}
