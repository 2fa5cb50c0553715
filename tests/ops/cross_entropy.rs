use dahl::ops::{
    count_correct_init, cross_entropy, cross_entropy_backward, cross_entropy_backward_init,
    cross_entropy_init,
};
use dahl::prelude::*;

use crate::reference::{array, assert_all_close, assert_close, assert_refused, exact};

const FACTOR: f64 = 0.125;

/// As for softmax: a few units of `exp`, `ln` and the subtractions.
const UNITS: usize = 24;

fn loss_and_gradient<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    for [batch, classes] in [[1, 1], [0, 3], [7, 3], [101, 10], [3, 5000]] {
        let logits = array::<T, 2>(&rt, [batch, classes], 1);
        let labels = (0..batch).map(|sample| (sample * 7 % classes) as i64).collect::<Vec<_>>();
        let (values, given) = (exact(&logits), rt.from_vec([batch], labels.clone()).unwrap());
        let (mut loss, mut gradient) = (0.0, values.clone());
        for (sample, &label) in labels.iter().enumerate() {
            let sum: f64 = (0..classes).map(|class| values[[sample, class]].exp()).sum();
            loss += FACTOR * (sum.ln() - values[[sample, label as usize]]);
            for class in 0..classes {
                let target = f64::from(class == label as usize);
                gradient[[sample, class]] = FACTOR * (values[[sample, class]].exp() / sum - target);
            }
        }
        let magnitude = FACTOR * batch as f64 * 8.0;
        let made = cross_entropy_init(&arena, &logits, &given, FACTOR).unwrap();
        assert_close(made.read().unwrap()[[]], loss, magnitude, batch + classes + UNITS);
        let mut out: Scalar<T> = rt.from_vec([], vec![T::ONE]).unwrap();
        cross_entropy(&logits, &given, &mut out, FACTOR).unwrap();
        assert_close(out.read().unwrap()[[]], loss + 1.0, magnitude + 1.0, batch + classes + UNITS);

        let mut out = rt.zeros([batch, classes]).unwrap();
        cross_entropy_backward(&logits, &given, &mut out, FACTOR).unwrap();
        let made = cross_entropy_backward_init(&arena, &logits, &given, FACTOR).unwrap();
        for results in [&out, &made] {
            assert_all_close(results, &gradient, &gradient.mapv(|_| FACTOR), classes + UNITS);
        }

        let best =
            |sample: usize| {
                (1..classes).fold(0, |best, class| {
                    if values[[sample, class]] > values[[sample, best]] { class } else { best }
                })
            };
        let correct =
            labels.iter().enumerate().filter(|&(sample, &label)| best(sample) == label as usize).count();
        let made = count_correct_init(&arena, &logits, &given).unwrap();
        assert_eq!(made.read().unwrap()[[]], correct as u32);
    }
}

fn large_logits_do_not_overflow<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let logits = rt.from_vec([2, 2], [60000.0, 60000.0, -60000.0, 1000.0].map(T::from_f64).to_vec()).unwrap();
    let labels = rt.from_vec([2], vec![0_u8, 1]).unwrap();
    let loss = cross_entropy_init(&arena, &logits, &labels, 1.0).unwrap();
    assert_close(loss.read().unwrap()[[]], std::f64::consts::LN_2, 1.0, 4);
    let gradient = cross_entropy_backward_init(&arena, &logits, &labels, 1.0).unwrap();
    assert_eq!(exact(&gradient).into_raw_vec_and_offset().0, [-0.5, 0.5, 0.0, 0.0]);
}

for_each_real!(loss_and_gradient, large_logits_do_not_overflow);

#[test]
fn a_label_out_of_range_fails_the_task() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let (logits, labels) = (array::<f32, 2>(&rt, [2, 3], 1), rt.from_vec([2], vec![0_i32, 3]).unwrap());
    let loss = cross_entropy_init(&arena, &logits, &labels, 1.0).unwrap();
    let message = loss.read().unwrap_err().to_string();
    assert!(message.contains("label 3 of sample 1 is not one of 3 classes"), "{message}");
    let gradient = cross_entropy_backward_init(&arena, &logits, &labels, 1.0).unwrap();
    assert!(gradient.read().is_err());
    let count = count_correct_init(&arena, &logits, &labels).unwrap();
    assert!(count.read().is_err());
}

#[test]
fn wrong_shapes_are_refused() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let (logits, labels) = (array::<f32, 2>(&rt, [2, 3], 1), rt.from_vec([4], vec![0_i32; 4]).unwrap());
    assert_refused(cross_entropy_init(&arena, &logits, &labels, 1.0), &["cross_entropy", "[2, 3]", "[4]"]);
    assert_refused(count_correct_init(&arena, &logits, &labels), &["count_correct", "[2, 3]", "[4]"]);
}

/// What is left of a loss and of its gradients where the prediction is nearly certain keeps its digits.
#[test]
fn confident_predictions_keep_their_digits() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let expected = 4.248354255291589e-18_f64; // ln(1 + exp(-40)), and exp(-40) / (1 + exp(-40))
    let is_near = |x: f64, expected: f64| (x / expected - 1.0).abs() < 1e-14;
    let logits = rt.from_vec([1, 2], vec![40.0_f64, 0.0]).unwrap();
    let labels = rt.from_vec([1], vec![0_u32]).unwrap();
    let loss = cross_entropy_init(&arena, &logits, &labels, 1.0).unwrap().read().unwrap()[[]];
    assert!(is_near(loss, expected), "{loss}");
    let gradient = cross_entropy_backward_init(&arena, &logits, &labels, 1.0).unwrap().to_vec().unwrap();
    assert!(is_near(gradient[0], -expected) && is_near(gradient[1], expected), "{gradient:?}");
    let logarithms = dahl::ops::log_softmax_init(&arena, &logits, 1).unwrap().to_vec().unwrap();
    assert!(is_near(logarithms[0], -expected) && logarithms[1] == -40.0, "{logarithms:?}");

    let single = rt.from_vec([1, 3], vec![0.0_f32, 20.0, 0.0]).unwrap();
    let label = rt.from_vec([1], vec![1_u32]).unwrap();
    let loss = cross_entropy_init(&arena, &single, &label, 1.0).unwrap().read().unwrap()[[]];
    assert!((f64::from(loss) / (2.0 * (-20.0_f64).exp()).ln_1p() - 1.0).abs() < 1e-6, "{loss}");
}
