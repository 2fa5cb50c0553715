use dahl::ndarray::Axis;
use dahl::ops::{
    log_softmax, log_softmax_backward_init, log_softmax_init, log_softmax_self, softmax,
    softmax_backward_init, softmax_init, softmax_self,
};
use dahl::prelude::*;

use crate::reference::{array, assert_all_close, assert_close, assert_refused, exact};

/// The error of `exp(x - max)` is that of the subtraction, times its derivative, and a few units of `exp`; that of the
/// sum is at most `extent` more; all relative to the result. Inputs are below 2, so differences are below 4.
const UNITS: usize = 16;

fn along_each_axis<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    for shape in [[1, 1, 1], [3, 10, 1], [2, 1, 131], [0, 2, 3], [5, 7, 11]] {
        for axis in 0..3 {
            let mut input = array::<T, 3>(&rt, shape, 1);
            let values = exact(&input);
            let mut sums = values.mapv(f64::exp).sum_axis(Axis(axis)).insert_axis(Axis(axis));
            sums = sums.broadcast(values.raw_dim()).unwrap().to_owned();
            let probabilities = values.mapv(f64::exp) / &sums;
            let logarithms = &values - &sums.mapv(f64::ln);
            let terms = shape[axis] + UNITS;

            let mut out = rt.zeros(shape).unwrap();
            softmax(&input, &mut out, axis).unwrap();
            assert_all_close(&out, &probabilities, &probabilities, terms);
            assert_all_close(
                &softmax_init(&arena, &input, axis).unwrap(),
                &probabilities,
                &probabilities,
                terms,
            );

            let magnitude = logarithms.mapv(|x| x.abs() + 8.0);
            log_softmax(&input, &mut out, axis).unwrap();
            assert_all_close(&out, &logarithms, &magnitude, terms);
            assert_all_close(
                &log_softmax_init(&arena, &input, axis).unwrap(),
                &logarithms,
                &magnitude,
                terms,
            );
            let mut over = array::<T, 3>(&rt, shape, 1);
            log_softmax_self(&mut over, axis).unwrap();
            assert_all_close(&over, &logarithms, &magnitude, terms);
            softmax_self(&mut input, axis).unwrap();
            assert_all_close(&input, &probabilities, &probabilities, terms);
        }
    }
}

fn special_values<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let rows = [
        [1000.0, 1000.0],
        [-1000.0, 1000.0],
        [f64::NAN, 0.0],
        [f64::NEG_INFINITY, 0.0],
        [f64::INFINITY, 0.0],
    ];
    let input = rt.from_vec([5, 2], rows.concat().into_iter().map(T::from_f64).collect()).unwrap();
    let out = softmax_init(&arena, &input, 1).unwrap();
    let expected = [[0.5, 0.5], [0.0, 1.0], [f64::NAN; 2], [0.0, 1.0], [f64::NAN; 2]].concat();
    for (&actual, expected) in out.read().unwrap().iter().zip(expected) {
        assert_close(actual, expected, expected, 4);
    }
    let out = log_softmax_init(&arena, &input, 1).unwrap();
    let half = -std::f64::consts::LN_2;
    let expected =
        [[half, half], [-2000.0, 0.0], [f64::NAN; 2], [f64::NEG_INFINITY, 0.0], [f64::NAN; 2]].concat();
    for (&actual, expected) in out.read().unwrap().iter().zip(expected) {
        assert_close(actual, expected, expected, 4);
    }
}

/// Every type represents 1000 closely enough, but no type its exponential.
fn large_logits<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let input = rt.from_vec([2], vec![T::from_f64(1000.0); 2]).unwrap();
    assert_eq!(exact(&softmax_init(&arena, &input, 0).unwrap()).as_slice().unwrap(), [0.5, 0.5]);
    let largest = rt.from_vec([2, 2], vec![T::MAX, T::MAX, T::MAX, T::MIN]).unwrap();
    let made = exact(&softmax_init(&arena, &largest, 1).unwrap());
    assert_eq!(made.as_slice().unwrap(), [0.5, 0.5, 1.0, 0.0]);
    let made = exact(&log_softmax_init(&arena, &largest, 1).unwrap());
    assert!(made.iter().take(3).all(|value| value.is_finite()), "{made}");
}

fn gradients<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    for shape in [[1, 1, 1], [3, 10, 1], [2, 0, 3], [5, 7, 11]] {
        for axis in 0..3 {
            let (input, gradient) = (array::<T, 3>(&rt, shape, 1), array::<T, 3>(&rt, shape, 2));
            let stretch = |sums: dahl::ndarray::ArrayD<f64>| {
                sums.insert_axis(Axis(axis)).broadcast(dahl::ndarray::IxDyn(&shape)).unwrap().to_owned()
            };
            let output = softmax_init(&arena, &input, axis).unwrap();
            let made = softmax_backward_init(&arena, &output, &gradient, axis).unwrap();
            let (values, factors) = (exact(&output), exact(&gradient));
            let sums = stretch((&values * &factors).sum_axis(Axis(axis)));
            let magnitude = &values * 4.0;
            assert_all_close(&made, &(&values * (&factors - &sums)), &magnitude, shape[axis] + 4);

            let output = log_softmax_init(&arena, &input, axis).unwrap();
            let made = log_softmax_backward_init(&arena, &output, &gradient, axis).unwrap();
            let powers = exact(&output).mapv(f64::exp);
            let (sums, magnitude) =
                (stretch(factors.sum_axis(Axis(axis))), stretch(factors.mapv(f64::abs).sum_axis(Axis(axis))));
            let magnitude = factors.mapv(f64::abs) + &powers * &magnitude;
            assert_all_close(&made, &(&factors - &(powers * &sums)), &magnitude, shape[axis] + 16);
        }
    }
}

for_each_real!(large_logits, gradients);
for_each_real!(along_each_axis, special_values);

#[test]
fn wrong_shapes_are_refused() {
    let rt = Runtime::new().unwrap();
    let mut input = array::<f32, 2>(&rt, [2, 3], 1);
    assert_refused(softmax(&input, &mut rt.zeros([3, 2]).unwrap(), 1), &["softmax", "[2, 3]", "[3, 2]"]);
    assert_refused(log_softmax_self(&mut input, 2), &["log_softmax", "[2, 3]"]);
}
