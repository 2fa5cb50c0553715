use dahl::ndarray::Axis;
use dahl::ops::{
    variance_axis, variance_axis_backward_init, variance_axis_init, variance_backward_init, variance_init,
};
use dahl::prelude::*;

use crate::reference::{along, array, assert_all_close, assert_close, assert_refused, exact};

fn variance(values: &[f64], correction: usize) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / values.len().saturating_sub(correction) as f64
}

fn along_each_axis<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    for shape in [[2, 3, 5], [131, 7, 2], [3, 2, 1031]] {
        let input = array::<T, 3>(&rt, shape, 1);
        let values = exact(&input);
        for correction in [0, 1] {
            let whole = variance_init(&arena, &input, correction).unwrap();
            let expected = variance(&values.iter().copied().collect::<Vec<_>>(), correction);
            assert_close(whole.read().unwrap()[[]], expected, expected, input.len() + 8);
            for (axis, extent) in shape.into_iter().enumerate() {
                let count = extent;
                let made = variance_axis_init(&arena, &input, axis, correction).unwrap();
                let expected = along(&values, axis, |lane| variance(lane, correction));
                if count > correction {
                    assert_all_close(&made, &expected, &expected, count + 8);
                    let gradient = array::<T, 3>(&rt, made.shape(), 2);
                    let made =
                        variance_axis_backward_init(&arena, &input, &gradient, axis, correction).unwrap();
                    let means = values.mean_axis(Axis(axis)).unwrap().insert_axis(Axis(axis));
                    let factor = exact(&gradient) * (2.0 / (count - correction) as f64);
                    let expected = (&values - &means) * &factor;
                    let magnitude = (values.mapv(f64::abs) + 2.0) * factor.mapv(f64::abs);
                    assert_all_close(&made, &expected, &magnitude, count + 8);
                } else {
                    assert!(made.to_vec().unwrap().into_iter().all(Real::is_nan));
                }
            }
        }
    }
}

/// The mean of the squares minus the square of the mean would have no correct digit, or be negative.
fn a_large_mean_does_not_cancel<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let mean = T::EPSILON.to_f64().recip();
    let values = (0..1000).map(|i| T::from_f64(mean + f64::from(i % 2))).collect();
    let input = rt.from_vec([1000], values).unwrap();
    assert_eq!(variance_init(&arena, &input, 0).unwrap().read().unwrap()[[]].to_f64(), 0.25);
}

fn the_largest_numbers<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let root = T::MAX.to_f64().sqrt() / 2.0;
    let values = (0..1000).map(|i| T::from_f64(if i % 2 == 0 { root } else { -root })).collect();
    let input = rt.from_vec([1000], values).unwrap();
    let expected = T::from_f64(root).to_f64().powi(2);
    let made = variance_init(&arena, &input, 0).unwrap();
    assert_close(made.read().unwrap()[[]], expected, expected, 64);
    let input = rt.from_vec([2], vec![T::MAX, T::MAX]).unwrap();
    assert_eq!(variance_init(&arena, &input, 0).unwrap().read().unwrap()[[]], T::ZERO);
    for special in [T::INFINITY, T::NAN] {
        let input = rt.from_vec([2], vec![special, T::ONE]).unwrap();
        assert!(variance_init(&arena, &input, 0).unwrap().read().unwrap()[[]].is_nan());
    }
}

for_each_real!(along_each_axis, a_large_mean_does_not_cancel, the_largest_numbers);

#[test]
fn few_elements() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let one = rt.from_vec([1], vec![7.0_f32]).unwrap();
    assert_eq!(variance_init(&arena, &one, 0).unwrap().to_vec().unwrap(), [0.0]);
    assert!(variance_init(&arena, &one, 1).unwrap().to_vec().unwrap()[0].is_nan());
    let none = rt.zeros::<f32, 1>([0]).unwrap();
    assert!(variance_init(&arena, &none, 0).unwrap().to_vec().unwrap()[0].is_nan());
    let gradient = rt.from_vec([], vec![3.0_f32]).unwrap();
    let two = rt.from_vec([2], vec![1.0_f32, 3.0]).unwrap();
    let made = variance_backward_init(&arena, &two, &gradient, 1).unwrap();
    assert_eq!(made.to_vec().unwrap(), [-6.0, 6.0]);
}

#[test]
fn wrong_shapes_are_refused() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let input = array::<f32, 2>(&rt, [2, 3], 1);
    let mut out = rt.zeros([2, 3]).unwrap();
    assert_refused(variance_axis(&input, &mut out, 0, 1), &["variance_axis", "[2, 3]", "[1, 3]"]);
    assert_refused(variance_axis_init(&arena, &input, 2, 1), &["variance_axis", "[2, 3]"]);
    let most = usize::MAX.to_string();
    assert_refused(variance_init(&arena, &input, usize::MAX), &["variance", &most]);
    assert_refused(variance_axis_init(&arena, &input, 1, usize::MAX), &["variance_axis", &most]);
}
