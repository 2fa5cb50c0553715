use dahl::ops::{upsample_linear_init, upsample_nearest_init};
use dahl::prelude::*;

use crate::reference::{array, assert_refused};

/// The results of PyTorch 2: `interpolate` with the modes `nearest` and `linear`.
fn of_signals<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let numbers = |values: &[f64]| values.iter().map(|&value| T::from_f64(value)).collect::<Vec<T>>();
    let input = rt.from_vec([1, 1, 3], numbers(&[1.0, 5.0, 3.0])).unwrap();
    let nearest = |extent| upsample_nearest_init(&arena, &input, [extent]).unwrap().to_vec().unwrap();
    assert_eq!(nearest(6), numbers(&[1.0, 1.0, 5.0, 5.0, 3.0, 3.0]));
    assert_eq!(nearest(5), numbers(&[1.0, 1.0, 5.0, 5.0, 3.0]));
    assert_eq!(nearest(2), numbers(&[1.0, 5.0]));
    let linear =
        |extent, corners| upsample_linear_init(&arena, &input, [extent], corners).unwrap().to_vec().unwrap();
    assert_eq!(linear(6, false), numbers(&[1.0, 2.0, 4.0, 4.5, 3.5, 3.0]));
    assert_eq!(linear(5, true), numbers(&[1.0, 3.0, 5.0, 4.0, 3.0]));
    assert_eq!(linear(1, true), numbers(&[1.0]));
    assert_eq!(linear(1, false), numbers(&[5.0]));
    assert_eq!(linear(3, true), numbers(&[1.0, 5.0, 3.0]));
}

/// Bilinear: the mean of the means along one axis.
fn of_images<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let numbers = |values: &[f64]| values.iter().map(|&value| T::from_f64(value)).collect::<Vec<T>>();
    let input = rt.from_vec([1, 1, 2, 2], numbers(&[0.0, 8.0, 16.0, 32.0])).unwrap();
    let out = upsample_linear_init(&arena, &input, [3, 3], true).unwrap().to_vec().unwrap();
    assert_eq!(out, numbers(&[0.0, 4.0, 8.0, 8.0, 14.0, 20.0, 16.0, 24.0, 32.0]));
    let out = upsample_linear_init(&arena, &input, [4, 2], false).unwrap().to_vec().unwrap();
    assert_eq!(out, numbers(&[0.0, 8.0, 4.0, 14.0, 12.0, 26.0, 16.0, 32.0]));
}

for_each_real!(of_signals, of_images);

#[test]
fn wrong_extents_are_refused() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let input = array::<f32, 3>(&rt, [2, 3, 4], 1);
    assert_refused(upsample_nearest_init(&arena, &input, [2, 2]), &["upsample_nearest", "[2, 3, 4]"]);
    assert_refused(
        upsample_linear_init(&arena, &input, [usize::MAX / 2], false),
        &["upsample_linear", "[2, 3, 4]"],
    );
    let empty = array::<f32, 3>(&rt, [2, 3, 0], 1);
    assert_refused(upsample_linear_init(&arena, &empty, [4], false), &["upsample_linear", "[2, 3, 0]"]);
    assert_eq!(upsample_linear_init(&arena, &input, [0], false).unwrap().len(), 0);
}
