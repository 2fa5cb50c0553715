//! The negative log-likelihood: weights, labels that do not count, and wrong ones.

use dahl::ops::{LossReduction, nll_backward_init, nll_each_init, nll_init};
use dahl::prelude::*;

#[test]
fn of_three_samples() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let input = rt.from_vec([3, 2], vec![-0.5_f32, -1.0, f32::NAN, f32::NAN, -0.25, -2.0]).unwrap();
    let labels = rt.from_vec([3], vec![1_u32, 9, 0]).unwrap();
    let weights = rt.from_vec([2], vec![1.0_f32, 3.0]).unwrap();
    let each = nll_each_init(&arena, &input, &labels, &weights, 9).unwrap();
    assert_eq!(each.to_vec().unwrap(), [3.0, 0.0, 0.25]);
    let loss = |reduction| nll_init(&arena, &input, &labels, &weights, 9, reduction, 2.0).unwrap();
    assert_eq!(loss(LossReduction::Sum).to_vec().unwrap(), [6.5]);
    assert_eq!(loss(LossReduction::Mean).to_vec().unwrap(), [1.625]);
    let by_input = nll_backward_init(&arena, &labels, &weights, 2, 9, LossReduction::Mean, 2.0).unwrap();
    assert_eq!(by_input.to_vec().unwrap(), [0.0, -1.5, 0.0, 0.0, -0.5, 0.0]);
    let each = nll_each_init(&arena, &input, &labels, &weights, -100).unwrap();
    let message = each.read().unwrap_err().to_string();
    assert!(message.contains("label 9 of sample 1 is not one of 2 classes"), "{message}");
}
