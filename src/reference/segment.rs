//! Sums and softmax over segments of rows.

use std::collections::BTreeMap;

use ndarray::{ArrayView1, ArrayViewD, ArrayViewMutD, Axis, Zip};

use super::softmax::{probabilities, probability_terms};
use super::sum::sum_of;

pub(crate) fn segment_sum(
    input: ArrayViewD<'_, f64>,
    segments: ArrayView1<'_, u32>,
    mut out: ArrayViewMutD<'_, f64>,
    _count: usize,
) {
    for (mut out, input) in out.lanes_mut(Axis(0)).into_iter().zip(input.lanes(Axis(0))) {
        for (segment, out) in out.iter_mut().enumerate() {
            let terms = input.iter().zip(&segments).filter(|(_, of)| **of as usize == segment);
            *out = sum_of(terms.map(|(term, _)| *term));
        }
    }
}

pub(crate) fn segment_softmax(
    input: ArrayViewD<'_, f64>,
    segments: ArrayView1<'_, u32>,
    out: ArrayViewMutD<'_, f64>,
    _count: usize,
) {
    map(input, segments, out, probabilities);
}

pub(crate) fn segment_softmax_terms(
    input: ArrayViewD<'_, f64>,
    segments: ArrayView1<'_, u32>,
    out: ArrayViewMutD<'_, f64>,
    _count: usize,
) {
    map(input, segments, out, probability_terms);
}

pub(crate) fn segment_softmax_backward(
    output: ArrayViewD<'_, f64>,
    gradient: ArrayViewD<'_, f64>,
    segments: ArrayView1<'_, u32>,
    mut out: ArrayViewMutD<'_, f64>,
    _count: usize,
) {
    let products = &output * &gradient;
    let mut sums = out.to_owned();
    map(products.view(), segments, sums.view_mut(), |terms| vec![sum_of(terms.iter().copied()); terms.len()]);
    Zip::from(&mut out).and(&output).and(&gradient).and(&sums).for_each(|out, &output, &gradient, &sum| {
        let difference = gradient - sum;
        // It may overflow where the products do not.
        *out = if difference.is_finite() { output * difference } else { output * gradient - output * sum };
    });
}

pub(crate) fn segment_softmax_backward_terms(
    output: ArrayViewD<'_, f64>,
    gradient: ArrayViewD<'_, f64>,
    segments: ArrayView1<'_, u32>,
    mut out: ArrayViewMutD<'_, f64>,
    _count: usize,
) {
    let products = (&output * &gradient).mapv(f64::abs);
    let mut sums = out.to_owned();
    map(products.view(), segments, sums.view_mut(), |terms| vec![sum_of(terms.iter().copied()); terms.len()]);
    out.assign(&(&output.mapv(f64::abs) * &(&gradient.mapv(f64::abs) + &sums)));
}

/// Maps the elements of each segment, column by column.
fn map(
    input: ArrayViewD<'_, f64>,
    segments: ArrayView1<'_, u32>,
    mut out: ArrayViewMutD<'_, f64>,
    f: impl Fn(&[f64]) -> Vec<f64>,
) {
    let mut rows = BTreeMap::<u32, Vec<usize>>::new();
    segments.iter().enumerate().for_each(|(row, &segment)| rows.entry(segment).or_default().push(row));
    for (mut out, input) in out.lanes_mut(Axis(0)).into_iter().zip(input.lanes(Axis(0))) {
        for rows in rows.values() {
            let values: Vec<f64> = rows.iter().map(|&row| input[row]).collect();
            rows.iter().zip(f(&values)).for_each(|(&row, value)| out[row] = value);
        }
    }
}
