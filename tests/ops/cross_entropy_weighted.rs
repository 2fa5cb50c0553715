//! Labels that do not count, and wrong ones. (Values are compared in `numerics`, and with PyTorch by `dahl-nn`.)

use dahl::ops::{
    LossReduction, cross_entropy_each_init, cross_entropy_init, cross_entropy_weighted_backward_init,
    cross_entropy_weighted_init, label_weight_init,
};
use dahl::prelude::*;

use crate::reference::{array, assert_close, assert_refused, exact};

/// Without options it is the cross-entropy.
fn without_options<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    for [batch, classes] in [[1, 1], [0, 3], [7, 3], [101, 10], [3, 20_000]] {
        let logits = array::<T, 2>(&rt, [batch, classes], 1);
        let labels = (0..batch).map(|sample| (sample * 7 % classes) as i64).collect::<Vec<_>>();
        let labels = rt.from_vec([batch], labels).unwrap();
        let one = rt.from_vec([1], vec![T::ONE]).unwrap();
        let expected = cross_entropy_init(&arena, &logits, &labels, 0.125).unwrap().read().unwrap()[[]];
        let (sum, factor) = (LossReduction::Sum, 0.125);
        let made =
            cross_entropy_weighted_init(&arena, &logits, &labels, &one, 0.0, -100, sum, factor).unwrap();
        assert_eq!(made.read().unwrap()[[]], expected);
        let each = cross_entropy_each_init(&arena, &logits, &labels, &one, 0.0, -100).unwrap();
        let (values, labels) = (exact(&logits), labels.to_vec().unwrap());
        for (sample, loss) in each.to_vec().unwrap().into_iter().enumerate() {
            let sum: f64 = (0..classes).map(|class| values[[sample, class]].exp()).sum();
            assert_close(loss, sum.ln() - values[[sample, labels[sample] as usize]], 16.0, classes + 24);
        }
    }
}

for_each_real!(without_options);

#[test]
fn ignored_samples_have_no_part_whatever_their_logits() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let nan = f32::NAN;
    let logits = rt.from_vec([3, 2], vec![0.0_f32, 0.0, nan, nan, 1.0, 1.0]).unwrap();
    let labels = rt.from_vec([3], vec![1_i32, -100, 0]).unwrap();
    let weights = rt.from_vec([2], vec![1.0_f32, 3.0]).unwrap();
    let mean = LossReduction::Mean;
    let loss = cross_entropy_weighted_init(&arena, &logits, &labels, &weights, 0.0, -100, mean, 1.0).unwrap();
    assert_close(loss.read().unwrap()[[]], std::f64::consts::LN_2, 1.0, 4);
    let by = cross_entropy_weighted_backward_init(&arena, &logits, &labels, &weights, 0.0, -100, mean, 1.0);
    assert_eq!(by.unwrap().to_vec().unwrap(), [0.375, -0.375, 0.0, 0.0, -0.125, 0.125]);
    let weight = label_weight_init(&arena, &labels, &weights, 2, 0.0, -100, mean, 1.0).unwrap();
    assert_eq!(weight.to_vec().unwrap(), [0.75, 0.0, 0.25]);
}

#[test]
fn a_label_out_of_range_fails_the_task_unless_it_is_ignored() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let (logits, labels) = (array::<f32, 2>(&rt, [2, 3], 1), rt.from_vec([2], vec![0_u8, 3]).unwrap());
    let one = rt.from_vec([1], vec![1.0_f32]).unwrap();
    let each = |ignored| cross_entropy_each_init(&arena, &logits, &labels, &one, 0.0, ignored).unwrap();
    let message = each(-100).read().unwrap_err().to_string();
    assert!(message.contains("label 3 of sample 1 is not one of 3 classes"), "{message}");
    assert_eq!(each(3).to_vec().unwrap()[1], 0.0);
}

/// Without smoothing, a logit of minus infinity excludes its class.
#[test]
fn excluded_classes() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let logits = rt.from_vec([1, 3], vec![0.0_f64, f64::NEG_INFINITY, 0.0]).unwrap();
    let labels = rt.from_vec([1], vec![2_u32]).unwrap();
    let one = rt.from_vec([1], vec![1.0_f64]).unwrap();
    let each = |smoothing| cross_entropy_each_init(&arena, &logits, &labels, &one, smoothing, -100).unwrap();
    assert_eq!(each(0.0).to_vec().unwrap(), [std::f64::consts::LN_2]);
    assert_eq!(each(0.1).to_vec().unwrap(), [f64::INFINITY]);
}

#[test]
fn wrong_shapes_and_options_are_refused() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let (logits, labels) = (array::<f32, 2>(&rt, [2, 3], 1), rt.from_vec([2], vec![0_i32; 2]).unwrap());
    let (two, three) = (array::<f32, 1>(&rt, [2], 1), array::<f32, 1>(&rt, [3], 1));
    let each = |weights, smoothing| {
        cross_entropy_each_init(&arena, &logits, &labels, weights, smoothing, -100).map(|_| ())
    };
    assert!(each(&three, 1.0).is_ok());
    assert_refused(each(&two, 0.0), &["cross_entropy_each", "weights"]);
    assert_refused(each(&three, 1.5), &["cross_entropy_each", "smoothing"]);
}
