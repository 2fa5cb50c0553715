//! Losses of pairs that are alike or not: both sides of the margin, targets that are neither, vectors of zeros.

use dahl::ops;
use dahl::prelude::*;

use crate::reference::{assert_refused, assert_value};

values_of_two! {
    hinge_embedding_init(1.0): [(0.25, 1.0, 0.25), (0.25, -1.0, 0.75), (1.5, -1.0, 0.0), (0.25, 0.0, 1.0), (1.5, 0.0, 1.5), (f64::NAN, -1.0, f64::NAN)];
}

#[test]
fn cosines() {
    let rt = Runtime::new().unwrap();
    let tape = rt.tape();
    let left = rt.from_vec([5, 2], vec![3.0_f64, 0.0, 3.0, 0.0, 3.0, 0.0, 0.0, 0.0, 1.0, 0.0]).unwrap();
    let right = rt.from_vec([5, 2], vec![3.0_f64, 4.0, 3.0, 4.0, -3.0, 4.0, 1.0, 1.0, 1.0, 0.0]).unwrap();
    let target = rt.from_vec([5], vec![1.0_f64, -1.0, -1.0, 1.0, 0.0]).unwrap();
    let loss = ops::cosine_embedding_init(&tape, &left, &right, &target, 0.5).unwrap();
    let expected = [0.4, 0.1, 0.0, 1.0, 0.0];
    for (loss, expected) in loss.to_vec().unwrap().into_iter().zip(expected) {
        assert!((loss - expected).abs() < 1e-11, "{loss}, not {expected}");
    }
    let total = ops::sum_init(&tape, &loss).unwrap();
    let by_left = tape.gradients(&total, &left).unwrap().to_vec().unwrap();
    // Perpendicular to the left vector: 4 / 5 of a unit, over the length 3.
    assert!((by_left[1] + 0.8 / 3.0).abs() < 1e-11 && (by_left[3] - 0.8 / 3.0).abs() < 1e-11, "{by_left:?}");
    assert_eq!((by_left[4], by_left[5], by_left[8], by_left[9]), (0.0, 0.0, 0.0, 0.0));
    assert!(by_left.iter().all(|value| value.is_finite()));
}

#[test]
fn wrong_shapes_are_refused() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let (x, y) = (rt.zeros::<f32, 2>([2, 3]).unwrap(), rt.zeros::<f32, 2>([2, 4]).unwrap());
    let target = rt.zeros([3]).unwrap();
    assert_refused(ops::cosine_embedding_init(&arena, &x, &y, &target, 0.0), &["cosine_embedding", "[2, 4]"]);
    assert_refused(ops::cosine_embedding_init(&arena, &x, &x, &target, 0.0), &["cosine_embedding", "[3]"]);
}
