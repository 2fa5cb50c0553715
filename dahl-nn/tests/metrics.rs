//! Metrics, against values computed by hand and by scikit-learn.

use dahl::prelude::*;
use dahl_nn::metric::{Accuracy, ConfusionMatrix, F1, Perplexity, TopKAccuracy};

const PREDICTIONS: [u32; 10] = [0, 2, 1, 1, 0, 2, 2, 1, 0, 3];
const LABELS: [u32; 10] = [0, 1, 1, 1, 2, 2, 0, 1, 0, 0];

/// Adds predictions and labels in two batches.
fn in_two<E: std::fmt::Debug>(mut update: impl FnMut(&[u32], &[u32]) -> Result<(), E>) {
    update(&PREDICTIONS[..3], &LABELS[..3]).unwrap();
    update(&PREDICTIONS[3..], &LABELS[3..]).unwrap();
}

fn assert_close(found: impl Into<Vec<f64>>, expected: &[f64]) {
    let found = found.into();
    assert_eq!(found.len(), expected.len());
    assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}, not {expected:?}");
}

#[test]
fn accuracy_is_the_fraction_of_right_predictions() {
    let mut accuracy = Accuracy::default();
    assert_eq!(accuracy.value(), None);
    in_two(|predictions, labels| accuracy.update(predictions, labels));
    assert_eq!(accuracy.value(), Some(0.6));
    let error = accuracy.update(&[1], &[1, 2]).unwrap_err().to_string();
    assert_eq!(error, "Accuracy: 1 predictions, but 2 labels");
}

#[test]
fn rows_of_the_confusion_matrix_are_labels() {
    let mut matrix = ConfusionMatrix::new(5);
    in_two(|predictions, labels| matrix.update(predictions, labels));
    // confusion_matrix(LABELS, PREDICTIONS, labels=range(5))
    let expected = [[2, 0, 1, 1, 0], [0, 3, 1, 0, 0], [1, 0, 1, 0, 0], [0, 0, 0, 0, 0], [0, 0, 0, 0, 0]];
    assert_eq!(matrix.rows().collect::<Vec<_>>(), expected);
    assert_eq!((matrix.count(0, 3), matrix.count(3, 0), matrix.classes()), (1, 0, 5));
    assert_eq!(matrix.to_string().lines().next(), Some("2 0 1 1 0"));
    let before = matrix.clone();
    let error = matrix.update(&[0, 5], &[0, 1]).unwrap_err().to_string();
    assert_eq!(error, "ConfusionMatrix: class 5: expected a class below 5");
    assert!(matrix.update(&[0, 1], &[0, 5]).is_err() && matrix.update(&[0], &[]).is_err());
    assert_eq!(matrix, before, "an error adds nothing");
    assert_eq!(ConfusionMatrix::new(0).rows().count(), 0);
}

#[test]
fn f1_has_the_averages_of_scikit_learn() {
    let mut f1 = F1::new(5);
    assert_eq!((f1.macro_average(), f1.micro_average(), f1.per_class()), (None, None, vec![0.0; 5]));
    in_two(|predictions, labels| f1.update(predictions, labels));
    // f1_score(LABELS, PREDICTIONS, labels=range(5), average=.., zero_division=0). By hand, class 0 was predicted
    // rightly 2 times, predicted 3 times, the label 4 times: 2 * 2 / (3 + 4).
    let expected = [4.0 / 7.0, 6.0 / 7.0, 2.0 / 5.0, 0.0, 0.0];
    assert_close(f1.per_class(), &expected);
    assert_close([f1.macro_average().unwrap()], &[0.365_714_285_714_285_66]);
    assert_close([f1.micro_average().unwrap()], &[0.6]);
}

fn scores<T: Real>(scores: &[f64]) -> Vec<T> {
    scores.iter().map(|&score| T::from_f64(score)).collect()
}

fn is_top_k<T: Real>() {
    let of_samples = scores::<T>(&[
        0.5, 0.2, 0.2, 0.3, 0.4, 0.2, 0.2, 0.4, 0.3, 0.7, 0.2, 0.1, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3,
    ]);
    // top_k_accuracy_score(labels, scores, k=k, labels=range(3)). Of equal scores, class 2 comes before 1, before 0.
    for (k, expected) in [(1, 2.0 / 6.0), (2, 4.0 / 6.0), (3, 1.0), (9, 1.0)] {
        let mut top = TopKAccuracy::new(k);
        top.update(&of_samples[..6], &[0, 1]).unwrap();
        top.update(&of_samples[6..], &[2, 2, 0, 1]).unwrap();
        assert_eq!(top.value(), Some(expected), "k = {k} in {}", T::NAME);
    }
}

#[test]
fn top_k_accuracy_has_the_ties_of_scikit_learn() {
    is_top_k::<f64>();
    is_top_k::<f32>();
    is_top_k::<dahl::f16>();
    is_top_k::<dahl::bf16>();
    let mut top = TopKAccuracy::new(1);
    assert_eq!(top.value(), None);
    top.update(&[f32::NAN, 1.0, f32::INFINITY], &[2]).unwrap();
    assert_eq!(top.value(), Some(0.0), "NaN is above all numbers");
    let error = |scores: &[f32], labels: &[u32], k| {
        TopKAccuracy::new(k).update(scores, labels).unwrap_err().to_string()
    };
    assert_eq!(error(&[0.0; 6], &[0, 3], 1), "TopKAccuracy: class 3: expected a class below 3");
    assert!(error(&[0.0; 5], &[0, 1], 1).contains("5 scores for 2 labels"));
    assert!(error(&[0.0; 5], &[], 1).contains("5 scores for 0 labels"));
    assert!(error(&[0.0; 3], &[0], 0).contains("k = 0"));
}

#[test]
fn perplexity_is_the_exponential_of_the_mean_cross_entropy() {
    let mut perplexity = Perplexity::default();
    assert_eq!(perplexity.value(), None);
    perplexity.update(&[1.0_f64, 2.0, 3.0], &[2]).unwrap();
    perplexity.update(&[0.0_f64, 0.0, 0.0, -1.0, 4.0, 2.5], &[0, 1]).unwrap();
    // np.exp(log_loss([2, 0, 1], softmax(scores), labels=range(3)))
    assert_close([perplexity.value().unwrap()], &[1.770_110_066_168_977_7]);
    let mut of_means = Perplexity::default();
    of_means.update_mean(8_f64.ln(), 3);
    of_means.update_mean(2_f64.ln(), 1);
    // The geometric mean of 8, 8, 8 and 2.
    assert_close([of_means.value().unwrap()], &[1024_f64.powf(0.25)]);
    // Scores whose exponentials are not finite.
    let mut large = Perplexity::default();
    large.update(&[5000.0_f32, 5000.0], &[0]).unwrap();
    assert_close([large.value().unwrap()], &[2.0]);
    assert!(large.update(&[0.0_f32; 3], &[0, 1]).is_err() && large.update(&[0.0_f32; 3], &[3]).is_err());
}
