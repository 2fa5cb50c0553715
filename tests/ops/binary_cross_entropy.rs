//! Binary cross-entropy: certain predictions, and logits far out.

use dahl::ops;
use dahl::prelude::*;

use crate::reference::assert_value;

const NAN: f64 = f64::NAN;
const LN_2: f64 = std::f64::consts::LN_2;

values_of_two! {
    binary_cross_entropy_init(): [(0.5, 1.0, LN_2), (0.5, 0.25, LN_2), (1.0, 1.0, -0.0), (0.0, 0.0, 0.0), (0.0, 1.0, 100.0), (1.0, 0.0, 100.0), (NAN, 1.0, NAN)];
    binary_cross_entropy_with_logits_init(): [(0.0, 1.0, LN_2), (0.0, 0.25, LN_2), (1e4, 1.0, 0.0), (1e4, 0.0, 1e4), (-1e4, 1.0, 1e4), (-1e4, 0.0, 0.0), (NAN, 1.0, NAN)];
}

/// What is left of a loss and of its gradient where the prediction is nearly certain keeps its digits.
#[test]
fn certain_predictions_keep_their_digits() {
    let rt = Runtime::new().unwrap();
    let tape = rt.tape();
    let x = rt.from_vec([2], vec![40.0_f64, -40.0]).unwrap();
    let y = rt.from_vec([2], vec![1.0_f64, 0.0]).unwrap();
    let loss = ops::binary_cross_entropy_with_logits_init(&tape, &x, &y).unwrap();
    let expected = 4.248354255291589e-18_f64; // ln(1 + exp(-40)), and exp(-40) / (1 + exp(-40))
    let is_near = |x: f64, expected: f64| (x / expected - 1.0).abs() < 1e-14;
    assert!(loss.to_vec().unwrap().into_iter().all(|loss| is_near(loss, expected)));
    let by_x = tape.gradients(&ops::sum_init(&tape, &loss).unwrap(), &x).unwrap().to_vec().unwrap();
    assert!(is_near(by_x[0], -expected) && is_near(by_x[1], expected), "{by_x:?}");
}

/// The derivative at 0 is that of the function, though it is written by branches.
#[test]
fn at_zero() {
    let rt = Runtime::new().unwrap();
    let tape = rt.tape();
    let x = rt.zeros::<f64, 1>([3]).unwrap();
    let y = rt.from_vec([3], vec![0.0_f64, 0.25, 1.0]).unwrap();
    let loss = ops::sum_init(&tape, &ops::binary_cross_entropy_with_logits_init(&tape, &x, &y).unwrap());
    assert_eq!(tape.gradients(&loss.unwrap(), &x).unwrap().to_vec().unwrap(), [0.5, 0.25, -0.5]);
    let weight = rt.from_vec([1], vec![3.0_f64]).unwrap();
    let loss = ops::binary_cross_entropy_with_logits_weighted_init(&tape, &x, &y, &weight).unwrap();
    let loss = ops::sum_init(&tape, &loss).unwrap();
    assert_eq!(tape.gradients(&loss, &x).unwrap().to_vec().unwrap(), [0.5, 0.0, -1.5]);
}
