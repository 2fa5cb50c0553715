//! Attention with the matrix of all scores, its gradients, and the weight of rounding errors in them. Keys that a query does not
//! see take no part, whatever numbers they have.
//!
//! The error of a score is a part of the sum of its products' magnitudes. `exp` turns it, and that of the difference from the
//! largest score, into an error of the probability relative to it. The functions `.._terms` sum the magnitudes.

use ndarray::{
    Array1, Array2, ArrayView1, ArrayView2, ArrayView3, ArrayView4, ArrayViewMut3, ArrayViewMut4, Axis, s,
};

use super::sum::{Sum, sum_of};
use crate::ops::AttentionGeometry;

/// The scores of a head, minus infinity where a query does not see a key, and their errors in units of the roundoff.
struct Scores {
    /// Whether a query sees a key.
    seen: Array2<bool>,
    scores: Array2<f64>,
    errors: Array2<f64>,
}

impl Scores {
    fn new(
        query: ArrayView2<'_, f64>,
        key: ArrayView2<'_, f64>,
        mask: Option<ArrayView2<'_, u8>>,
        geometry: AttentionGeometry,
    ) -> Self {
        let (tokens, keys) = (query.nrows(), key.nrows());
        let seen = Array2::from_shape_fn((tokens, keys), |(i, j)| {
            (!geometry.causal || j + tokens <= keys + i) && mask.is_none_or(|mask| mask[[i, j]] != 0)
        });
        let scores = Array2::from_shape_fn((tokens, keys), |(i, j)| {
            if seen[[i, j]] { geometry.scale * inner(query.row(i), key.row(j)) } else { f64::NEG_INFINITY }
        });
        let (query, key) = (query.mapv(f64::abs), key.mapv(f64::abs));
        let errors = Array2::from_shape_fn((tokens, keys), |(i, j)| {
            if seen[[i, j]] { geometry.scale.abs() * inner(query.row(i), key.row(j)) } else { 0.0 }
        });
        Self { seen, scores, errors }
    }

    /// The probability of each key for query `i`, and the logarithm of the sum of exponentials.
    fn softmax(&self, i: usize) -> (Vec<f64>, f64) {
        let scores = self.scores.row(i);
        let has_nan = scores.iter().any(|score| score.is_nan());
        let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if largest == f64::NEG_INFINITY && !has_nan {
            return (vec![0.0; scores.len()], f64::NEG_INFINITY);
        }
        let largest = if has_nan { f64::NAN } else { largest };
        let power = |(score, &is_seen): (&f64, &bool)| if is_seen { (score - largest).exp() } else { 0.0 };
        let powers = scores.iter().zip(self.seen.row(i)).map(power).collect::<Vec<_>>();
        let total = sum_of(powers.iter().copied());
        (powers.into_iter().map(|power| power / total).collect(), largest + total.ln())
    }

    /// The errors of the probabilities of query `i`, relative to them: from the scores, and from the exponential of their
    /// difference from `shift`.
    fn relative(&self, i: usize, shift: f64) -> Vec<f64> {
        let of = |(score, error): (&f64, &f64)| {
            if score.is_finite() { 1.0 + (score - shift).abs() + shift.abs() + error } else { 0.0 }
        };
        self.scores.row(i).iter().zip(self.errors.row(i)).map(of).collect()
    }
}

/// The mask of a sample: there may be one for all.
fn mask_of(mask: Option<ArrayView3<'_, u8>>, sample: usize) -> Option<ArrayView2<'_, u8>> {
    mask.map(|mask| {
        let sample = if mask.len_of(Axis(0)) == 1 { 0 } else { sample };
        mask.index_axis_move(Axis(0), sample)
    })
}

fn inner(a: ArrayView1<'_, f64>, b: ArrayView1<'_, f64>) -> f64 {
    let mut sum = Sum::default();
    a.iter().zip(b).for_each(|(&a, &b)| sum.add_product(a, b));
    sum.total()
}

/// `sum of weights[j] * rows[j]` over those that are `seen`.
fn weighted(weights: &[f64], seen: ArrayView1<'_, bool>, rows: ArrayView2<'_, f64>) -> Array1<f64> {
    let of_column = |column: ArrayView1<'_, f64>| {
        let mut sum = Sum::default();
        let terms = weights.iter().zip(column).zip(seen).filter(|(_, is_seen)| **is_seen);
        terms.for_each(|((&weight, &value), _)| sum.add_product(weight, value));
        sum.total()
    };
    rows.columns().into_iter().map(of_column).collect()
}

/// Calls `f` with the batch, the head, and the head of key and value that it uses.
fn for_each_head(query: &[usize], key: &[usize], mut f: impl FnMut(usize, usize, usize)) {
    for batch in 0..query[0] {
        for head in 0..query[1] {
            f(batch, head, head / (query[1] / key[1]));
        }
    }
}

pub(crate) fn attention(
    query: ArrayView4<'_, f64>,
    key: ArrayView4<'_, f64>,
    value: ArrayView4<'_, f64>,
    out: ArrayViewMut4<'_, f64>,
    log_sum_exp: ArrayViewMut3<'_, f64>,
    geometry: AttentionGeometry,
) {
    forward([query, key, value], None, out, log_sum_exp, geometry);
}

pub(crate) fn attention_terms(
    query: ArrayView4<'_, f64>,
    key: ArrayView4<'_, f64>,
    value: ArrayView4<'_, f64>,
    out: ArrayViewMut4<'_, f64>,
    log_sum_exp: ArrayViewMut3<'_, f64>,
    geometry: AttentionGeometry,
) {
    forward_terms([query, key, value], None, out, log_sum_exp, geometry);
}

pub(crate) fn attention_masked(
    query: ArrayView4<'_, f64>,
    key: ArrayView4<'_, f64>,
    value: ArrayView4<'_, f64>,
    mask: ArrayView3<'_, u8>,
    out: ArrayViewMut4<'_, f64>,
    log_sum_exp: ArrayViewMut3<'_, f64>,
    geometry: AttentionGeometry,
) {
    forward([query, key, value], Some(mask), out, log_sum_exp, geometry);
}

pub(crate) fn attention_masked_terms(
    query: ArrayView4<'_, f64>,
    key: ArrayView4<'_, f64>,
    value: ArrayView4<'_, f64>,
    mask: ArrayView3<'_, u8>,
    out: ArrayViewMut4<'_, f64>,
    log_sum_exp: ArrayViewMut3<'_, f64>,
    geometry: AttentionGeometry,
) {
    forward_terms([query, key, value], Some(mask), out, log_sum_exp, geometry);
}

fn forward(
    [query, key, value]: [ArrayView4<'_, f64>; 3],
    mask: Option<ArrayView3<'_, u8>>,
    mut out: ArrayViewMut4<'_, f64>,
    mut log_sum_exp: ArrayViewMut3<'_, f64>,
    geometry: AttentionGeometry,
) {
    for_each_head(query.shape(), key.shape(), |b, h, shared| {
        let scores = Scores::new(
            query.slice(s![b, h, .., ..]),
            key.slice(s![b, shared, .., ..]),
            mask_of(mask, b),
            geometry,
        );
        for i in 0..query.shape()[2] {
            let (probabilities, logarithm) = scores.softmax(i);
            out.slice_mut(s![b, h, i, ..]).assign(&weighted(
                &probabilities,
                scores.seen.row(i),
                value.slice(s![b, shared, .., ..]),
            ));
            log_sum_exp[[b, h, i]] = logarithm;
        }
    });
}

fn forward_terms(
    [query, key, value]: [ArrayView4<'_, f64>; 3],
    mask: Option<ArrayView3<'_, u8>>,
    mut out: ArrayViewMut4<'_, f64>,
    mut log_sum_exp: ArrayViewMut3<'_, f64>,
    geometry: AttentionGeometry,
) {
    let value = value.mapv(f64::abs);
    for_each_head(query.shape(), key.shape(), |b, h, shared| {
        let scores = Scores::new(
            query.slice(s![b, h, .., ..]),
            key.slice(s![b, shared, .., ..]),
            mask_of(mask, b),
            geometry,
        );
        for i in 0..query.shape()[2] {
            let (probabilities, logarithm) = scores.softmax(i);
            let largest = scores.scores.row(i).iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let shift = if largest.is_finite() { largest } else { 0.0 };
            let relative = scores.relative(i, shift);
            let of_total = sum_of(probabilities.iter().zip(&relative).map(|(p, error)| p * error));
            let terms = probabilities.iter().zip(&relative).map(|(p, error)| p * (error + of_total));
            let (terms, seen) = (terms.collect::<Vec<_>>(), scores.seen.row(i));
            out.slice_mut(s![b, h, i, ..]).assign(&weighted(
                &terms,
                seen,
                value.slice(s![b, shared, .., ..]),
            ));
            log_sum_exp[[b, h, i]] = if logarithm.is_finite() { logarithm.abs() + of_total } else { 0.0 };
        }
    });
}

#[allow(clippy::too_many_arguments, reason = "it has the signature of the operation")]
pub(crate) fn attention_backward(
    query: ArrayView4<'_, f64>,
    key: ArrayView4<'_, f64>,
    value: ArrayView4<'_, f64>,
    out: ArrayView4<'_, f64>,
    log_sum_exp: ArrayView3<'_, f64>,
    gradient: ArrayView4<'_, f64>,
    gradient_log_sum_exp: ArrayView3<'_, f64>,
    by_query: ArrayViewMut4<'_, f64>,
    by_key: ArrayViewMut4<'_, f64>,
    by_value: ArrayViewMut4<'_, f64>,
    geometry: AttentionGeometry,
) {
    let given = Given { query, key, value, out, log_sum_exp, gradient, gradient_log_sum_exp };
    backward(&given, None, [by_query, by_key, by_value], geometry, false);
}

#[allow(clippy::too_many_arguments, reason = "it has the signature of the operation")]
pub(crate) fn attention_backward_terms(
    query: ArrayView4<'_, f64>,
    key: ArrayView4<'_, f64>,
    value: ArrayView4<'_, f64>,
    out: ArrayView4<'_, f64>,
    log_sum_exp: ArrayView3<'_, f64>,
    gradient: ArrayView4<'_, f64>,
    gradient_log_sum_exp: ArrayView3<'_, f64>,
    by_query: ArrayViewMut4<'_, f64>,
    by_key: ArrayViewMut4<'_, f64>,
    by_value: ArrayViewMut4<'_, f64>,
    geometry: AttentionGeometry,
) {
    let given = Given { query, key, value, out, log_sum_exp, gradient, gradient_log_sum_exp };
    backward(&given, None, [by_query, by_key, by_value], geometry, true);
}

#[allow(clippy::too_many_arguments, reason = "it has the signature of the operation")]
pub(crate) fn attention_masked_backward(
    query: ArrayView4<'_, f64>,
    key: ArrayView4<'_, f64>,
    value: ArrayView4<'_, f64>,
    mask: ArrayView3<'_, u8>,
    out: ArrayView4<'_, f64>,
    log_sum_exp: ArrayView3<'_, f64>,
    gradient: ArrayView4<'_, f64>,
    gradient_log_sum_exp: ArrayView3<'_, f64>,
    by_query: ArrayViewMut4<'_, f64>,
    by_key: ArrayViewMut4<'_, f64>,
    by_value: ArrayViewMut4<'_, f64>,
    geometry: AttentionGeometry,
) {
    let given = Given { query, key, value, out, log_sum_exp, gradient, gradient_log_sum_exp };
    backward(&given, Some(mask), [by_query, by_key, by_value], geometry, false);
}

#[allow(clippy::too_many_arguments, reason = "it has the signature of the operation")]
pub(crate) fn attention_masked_backward_terms(
    query: ArrayView4<'_, f64>,
    key: ArrayView4<'_, f64>,
    value: ArrayView4<'_, f64>,
    mask: ArrayView3<'_, u8>,
    out: ArrayView4<'_, f64>,
    log_sum_exp: ArrayView3<'_, f64>,
    gradient: ArrayView4<'_, f64>,
    gradient_log_sum_exp: ArrayView3<'_, f64>,
    by_query: ArrayViewMut4<'_, f64>,
    by_key: ArrayViewMut4<'_, f64>,
    by_value: ArrayViewMut4<'_, f64>,
    geometry: AttentionGeometry,
) {
    let given = Given { query, key, value, out, log_sum_exp, gradient, gradient_log_sum_exp };
    backward(&given, Some(mask), [by_query, by_key, by_value], geometry, true);
}

/// The inputs of the gradients.
struct Given<'a> {
    query: ArrayView4<'a, f64>,
    key: ArrayView4<'a, f64>,
    value: ArrayView4<'a, f64>,
    out: ArrayView4<'a, f64>,
    log_sum_exp: ArrayView3<'a, f64>,
    gradient: ArrayView4<'a, f64>,
    gradient_log_sum_exp: ArrayView3<'a, f64>,
}

/// The gradients by query, key and value, or the sums of the magnitudes of what each element is computed from.
fn backward(
    given: &Given<'_>,
    mask: Option<ArrayView3<'_, u8>>,
    [mut by_query, mut by_key, mut by_value]: [ArrayViewMut4<'_, f64>; 3],
    geometry: AttentionGeometry,
    are_terms: bool,
) {
    let sign = |value: f64| if are_terms { value.abs() } else { value };
    let [query, key, value] = [given.query, given.key, given.value].map(|array| array.mapv(sign));
    let [out, gradient] = [given.out, given.gradient].map(|array| array.mapv(sign));
    let scale = sign(geometry.scale);
    let mut sums = [&by_query, &by_key, &by_value].map(|array| array.mapv(|_| Sum::default()));
    for_each_head(query.shape(), key.shape(), |b, h, shared| {
        let rows = [given.query.slice(s![b, h, .., ..]), given.key.slice(s![b, shared, .., ..])];
        let scores = Scores::new(rows[0], rows[1], mask_of(mask, b), geometry);
        for i in 0..query.shape()[2] {
            let row = gradient.slice(s![b, h, i, ..]);
            let along = inner(out.slice(s![b, h, i, ..]), row);
            let by_logarithm = given.gradient_log_sum_exp[[b, h, i]];
            // As in the kernels: a row whose scores are all minus infinity gives weights of 0.
            let shift = given.log_sum_exp[[b, h, i]];
            let shift = if shift == f64::NEG_INFINITY { 0.0 } else { shift };
            let relative = scores.relative(i, shift);
            for j in (0..key.shape()[2]).filter(|&j| scores.seen[[i, j]]) {
                let probability = (scores.scores[[i, j]] - shift).exp();
                let probability = if are_terms { probability * relative[j] } else { probability };
                let by_probability = inner(row, value.slice(s![b, shared, j, ..]));
                let slope = if are_terms {
                    by_probability + along + by_logarithm.abs()
                } else {
                    by_probability - along + by_logarithm
                };
                let slope = scale * probability * slope;
                for d in 0..query.shape()[3] {
                    sums[0][[b, h, i, d]].add(slope * key[[b, shared, j, d]]);
                    sums[1][[b, shared, j, d]].add(slope * query[[b, h, i, d]]);
                }
                for d in 0..value.shape()[3] {
                    sums[2][[b, shared, j, d]].add(probability * row[d]);
                }
            }
        }
    });
    for (out, sums) in [&mut by_query, &mut by_key, &mut by_value].into_iter().zip(&sums) {
        out.zip_mut_with(sums, |out, sum| *out = sum.total());
    }
}
