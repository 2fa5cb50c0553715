use dahl::ndarray::{ArrayD, ArrayViewD, Axis, Slice};
use dahl::ops::{
    AttentionGeometry, attention, attention_backward, attention_init, attention_masked, attention_masked_init,
};
use dahl::prelude::*;

use crate::reference::{array, assert_all_close, assert_refused, exact};

/// The softmax of scores of products, with all the scores at once.
struct Expected {
    out: ArrayD<f64>,
    log_sum_exp: ArrayD<f64>,
}

impl Expected {
    fn new(inputs: [&ArrayD<f64>; 3], geometry: AttentionGeometry) -> Self {
        Self::masked(inputs, geometry, |_, _, _| true)
    }

    /// Of the keys that `sees(sample, query, key)`.
    fn masked(
        [query, key, value]: [&ArrayD<f64>; 3],
        geometry: AttentionGeometry,
        sees: impl Fn(usize, usize, usize) -> bool,
    ) -> Self {
        let [batch, heads, tokens] = [0, 1, 2].map(|axis| query.shape()[axis]);
        let (keys, width) = (key.shape()[2], value.shape()[3]);
        let mut out = ArrayD::zeros(dahl::ndarray::IxDyn(&[batch, heads, tokens, width]));
        let mut log_sum_exp = ArrayD::zeros(dahl::ndarray::IxDyn(&[batch, heads, tokens]));
        for b in 0..batch {
            for h in 0..heads {
                let shared = h * key.shape()[1] / heads;
                for i in 0..tokens {
                    let seen = if geometry.causal { (i + 1 + keys).saturating_sub(tokens) } else { keys };
                    let score = |j: usize| {
                        let products =
                            (0..query.shape()[3]).map(|d| query[[b, h, i, d]] * key[[b, shared, j, d]]);
                        if sees(b, i, j) { (geometry.scale * products.sum::<f64>()).exp() } else { 0.0 }
                    };
                    let powers = (0..seen).map(score).collect::<Vec<_>>();
                    let total: f64 = powers.iter().sum();
                    log_sum_exp[[b, h, i]] = total.ln();
                    for d in 0..width {
                        let sum: f64 = (0..seen).map(|j| powers[j] * value[[b, shared, j, d]]).sum();
                        out[[b, h, i, d]] = if total == 0.0 { 0.0 } else { sum / total };
                    }
                }
            }
        }
        Self { out, log_sum_exp }
    }
}

/// Batch, heads, heads of keys, tokens, keys, width, width of values.
const SHAPES: [[usize; 7]; 9] = [
    [1, 1, 1, 1, 1, 1, 1],
    [2, 4, 2, 3, 5, 4, 3],
    [1, 6, 1, 5, 3, 2, 2],
    [0, 2, 2, 3, 3, 2, 2],
    [1, 2, 1, 0, 3, 2, 2],
    [1, 2, 1, 3, 0, 2, 2],
    [1, 2, 1, 3, 4, 0, 2],
    [1, 2, 1, 3, 4, 2, 0],
    [1, 2, 1, 131, 259, 8, 16],
];

fn of_all_shapes<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    for [batch, heads, kv_heads, tokens, keys, width, value_width] in SHAPES {
        for geometry in [AttentionGeometry::new(0.25), AttentionGeometry::new(-0.5).causal()] {
            let query = array::<T, 4>(&rt, [batch, heads, tokens, width], 1);
            let key = array::<T, 4>(&rt, [batch, kv_heads, keys, width], 2);
            let value = array::<T, 4>(&rt, [batch, kv_heads, keys, value_width], 3);
            let expected = Expected::new([&exact(&query), &exact(&key), &exact(&value)], geometry);

            let mut out = array::<T, 4>(&rt, [batch, heads, tokens, value_width], 4);
            let mut log_sum_exp = array::<T::Compute, 3>(&rt, [batch, heads, tokens], 5);
            attention(&query, &key, &value, &mut out, &mut log_sum_exp, geometry).unwrap();
            let made = attention_init(&arena, &query, &key, &value, geometry).unwrap();
            // Scores are below 2 width, so the errors of the exponentials are; values are below 2.
            let terms = keys + width + 32;
            let magnitude = expected.out.mapv(|_| 8.0 + 8.0 * width as f64);
            for (out, log_sum_exp) in [(&out, &log_sum_exp), (&made.0, &made.1)] {
                assert_all_close(out, &expected.out, &magnitude, terms);
                let magnitude = expected.log_sum_exp.mapv(|value| value.abs() + 8.0 + 4.0 * width as f64);
                assert_all_close(log_sum_exp, &expected.log_sum_exp, &magnitude, terms);
            }
        }
    }
}

fn with_masks<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    // A mask for each sample, or one for all; some queries see no key.
    let sees = |b: usize, i: usize, j: usize| !i.is_multiple_of(5) && (i * 7 + j * 3 + b).is_multiple_of(4);
    for (batch, samples, tokens, keys) in [(2, 2, 3, 5), (2, 1, 7, 4), (0, 0, 2, 2), (1, 1, 131, 259)] {
        for geometry in [AttentionGeometry::new(0.25), AttentionGeometry::new(0.5).causal()] {
            let query = array::<T, 4>(&rt, [batch, 4, tokens, 3], 1);
            let key = array::<T, 4>(&rt, [batch, 2, keys, 3], 2);
            let value = array::<T, 4>(&rt, [batch, 2, keys, 2], 3);
            let of_sample =
                |b: usize| (0..tokens * keys).map(move |at| u8::from(sees(b, at / keys, at % keys)));
            let mask =
                rt.from_vec([samples, tokens, keys], (0..samples).flat_map(of_sample).collect()).unwrap();
            let expected =
                Expected::masked([&exact(&query), &exact(&key), &exact(&value)], geometry, |b, i, j| {
                    sees(if samples == 1 { 0 } else { b }, i, j)
                });
            let mut out = array::<T, 4>(&rt, [batch, 4, tokens, 2], 4);
            let mut log_sum_exp = array::<T::Compute, 3>(&rt, [batch, 4, tokens], 5);
            attention_masked(&query, &key, &value, &mask, &mut out, &mut log_sum_exp, geometry).unwrap();
            let made = attention_masked_init(&arena, &query, &key, &value, &mask, geometry).unwrap();
            for (out, log_sum_exp) in [(&out, &log_sum_exp), (&made.0, &made.1)] {
                assert_all_close(out, &expected.out, &expected.out.mapv(|_| 32.0), keys + 32);
                let magnitude = expected.log_sum_exp.mapv(|value| value.abs() + 16.0);
                assert_all_close(log_sum_exp, &expected.log_sum_exp, &magnitude, keys + 32);
            }
        }
    }
}

/// The first queries see no key: their results are zeros, and their gradients too.
fn queries_that_see_nothing<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let geometry = AttentionGeometry::new(1.0).causal();
    let query = array::<T, 4>(&rt, [1, 1, 5, 2], 1);
    let (key, value) = (array::<T, 4>(&rt, [1, 1, 2, 2], 2), array::<T, 4>(&rt, [1, 1, 2, 3], 3));
    let (out, log_sum_exp) = attention_init(&arena, &query, &key, &value, geometry).unwrap();
    let first = |array: ArrayD<f64>| array.slice_axis(Axis(2), Slice::from(0..3)).to_owned();
    assert!(first(exact(&out)).iter().all(|&value| value == 0.0));
    assert!(first(exact(&log_sum_exp)).iter().all(|&value| value == f64::NEG_INFINITY));

    let (gradient, by_sums) =
        (array::<T, 4>(&rt, [1, 1, 5, 3], 4), array::<T::Compute, 3>(&rt, [1, 1, 5], 5));
    let mut by_query = array::<T, 4>(&rt, [1, 1, 5, 2], 6);
    let (mut by_key, mut by_value) =
        (array::<T, 4>(&rt, [1, 1, 2, 2], 7), array::<T, 4>(&rt, [1, 1, 2, 3], 8));
    attention_backward(
        &query,
        &key,
        &value,
        &out,
        &log_sum_exp,
        &gradient,
        &by_sums,
        &mut by_query,
        &mut by_key,
        &mut by_value,
        geometry,
    )
    .unwrap();
    assert!(first(exact(&by_query)).iter().all(|&value| value == 0.0));
    assert!(exact(&by_key).iter().chain(&exact(&by_value)).all(|value| value.is_finite() && *value != 0.0));
}

/// Exponentials of the scores overflow, or all are 0, but not those of their differences.
fn large_scores<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let query = rt.from_vec([1, 1, 2, 1], [100.0, -100.0].map(T::from_f64).to_vec()).unwrap();
    let keys = (0..300).map(|j| T::from_f64(if j == 7 { 100.0 } else { 90.0 })).collect();
    let key = rt.from_vec([1, 1, 300, 1], keys).unwrap();
    let values = (0..300).map(|j| T::from_f64(if j == 7 { 3.0 } else { 1.0 })).collect();
    let value = rt.from_vec([1, 1, 300, 1], values).unwrap();
    let (out, _) = attention_init(&arena, &query, &key, &value, AttentionGeometry::new(1.0)).unwrap();
    assert_eq!(out.to_vec().unwrap(), [T::from_f64(3.0), T::ONE]);
}

/// Attention of the last tokens with all keys is the end of that of all tokens.
fn with_cached_keys<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let geometry = AttentionGeometry::new(0.5).causal();
    let query = array::<T, 4>(&rt, [1, 2, 9, 4], 1);
    let (key, value) = (array::<T, 4>(&rt, [1, 2, 9, 4], 2), array::<T, 4>(&rt, [1, 2, 9, 4], 3));
    let (all, _) = attention_init(&arena, &query, &key, &value, geometry).unwrap();
    let last = dahl::ops::slice_init(&arena, &query, 2, 6, 3).unwrap();
    let (out, _) = attention_init(&arena, &last, &key, &value, geometry).unwrap();
    let end = |array: ArrayViewD<'_, f64>| array.slice_axis(Axis(2), Slice::from(6..9)).to_owned();
    let all = exact(&all);
    assert_all_close(&out, &end(all.view()), &end(all.view()).mapv(|_| 8.0), 32);
}

/// Cores share the heads: each is computed as on one core.
fn the_same_bits_on_several_cores<T: Real>() {
    let run = |workers: usize| {
        let rt = Runtime::builder().cpu_workers(workers).build().unwrap();
        let query = array::<T, 4>(&rt, [2, 4, 67, 8], 1);
        let (key, value) = (array::<T, 4>(&rt, [2, 2, 67, 8], 2), array::<T, 4>(&rt, [2, 2, 67, 8], 3));
        let arena = rt.arena();
        let geometry = AttentionGeometry::new(0.5).causal();
        let (out, sums) = attention_init(&arena, &query, &key, &value, geometry).unwrap();
        (out.to_vec().unwrap(), sums.to_vec().unwrap())
    };
    assert_eq!(run(1), run(3));
}

for_each_real!(
    of_all_shapes,
    with_masks,
    queries_that_see_nothing,
    large_scores,
    with_cached_keys,
    the_same_bits_on_several_cores
);

/// Second gradients flow through the output alone.
#[test]
fn second_gradients_through_logarithms_are_refused() {
    let rt = Runtime::new().unwrap();
    let tokens = array::<f64, 4>(&rt, [1, 1, 3, 2], 1);
    for is_through_output in [true, false] {
        let outer = rt.tape();
        let inner = outer.tape();
        let made = attention_init(&inner, &tokens, &tokens, &tokens, AttentionGeometry::new(1.0)).unwrap();
        let first = if is_through_output {
            inner.gradients_from(&made.0, &array(&rt, [1, 1, 3, 2], 2), &tokens)
        } else {
            inner.gradients_from(&made.1, &array(&rt, [1, 1, 3], 2), &tokens)
        };
        assert_eq!(
            first.err().map(|error| error.code()),
            if is_through_output { None } else { Some("D0021") }
        );
    }
}

#[test]
fn wrong_arguments_are_refused() {
    let rt = Runtime::new().unwrap();
    let query = array::<f32, 4>(&rt, [1, 3, 4, 2], 1);
    let mut out = rt.zeros([1, 3, 4, 2]).unwrap();
    let mut sums = rt.zeros([1, 3, 4]).unwrap();
    let geometry = AttentionGeometry::new(1.0);
    let shared = array::<f32, 4>(&rt, [1, 2, 4, 2], 1);
    let refused = attention(&query, &shared, &shared, &mut out, &mut sums, geometry);
    assert_refused(refused, &["attention", "[1, 3, 4, 2]", "[1, 2, 4, 2]"]);
    let value = array::<f32, 4>(&rt, [1, 3, 5, 2], 1);
    let refused = attention(&query, &query, &value, &mut out, &mut sums, geometry);
    assert_refused(refused, &["attention", "[1, 3, 4, 2]", "[1, 3, 5, 2]"]);
    let refused = attention(&query, &query, &query, &mut out, &mut sums, AttentionGeometry::new(f64::NAN));
    assert_refused(refused, &["attention", "NaN"]);
    let mask = rt.zeros([2, 4, 4]).unwrap();
    let refused = attention_masked(&query, &query, &query, &mask, &mut out, &mut sums, geometry);
    assert_refused(refused, &["attention_masked", "[2, 4, 4]", "[1, 3, 4, 2]"]);
}
