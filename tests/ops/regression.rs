//! The squared and absolute errors and their gradients: small values by hand, long sums, parts of a batch.

use dahl::ops;
use dahl::prelude::*;

use crate::reference::{array, assert_refused};

#[test]
fn errors_of_three_numbers() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let x = rt.from_vec([3], vec![1.0_f32, 2.0, 5.0]).unwrap();
    let y = rt.from_vec([3], vec![1.0_f32, 4.0, 2.0]).unwrap();
    let of = |loss: Scalar<'_, f32>| loss.to_vec().unwrap()[0];
    assert_eq!(of(ops::mean_squared_error_init(&arena, &x, &y, 0.5).unwrap()), 6.5);
    assert_eq!(of(ops::mean_absolute_error_init(&arena, &x, &y, 0.5).unwrap()), 2.5);
    let squared = ops::mean_squared_error_backward_init(&arena, &x, &y, 0.5).unwrap();
    assert_eq!(squared.to_vec().unwrap(), [0.0, -2.0, 3.0]);
    let absolute = ops::mean_absolute_error_backward_init(&arena, &x, &y, 0.5).unwrap();
    assert_eq!(absolute.to_vec().unwrap(), [0.0, -0.5, 0.5]);
}

#[test]
fn a_long_sum_in_half_precision_is_not_one_of_half_precision() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let x = rt.from_vec([100_000], vec![f16::from_f64(2.0); 100_000]).unwrap();
    let y = rt.from_vec([100_000], vec![f16::from_f64(-1.0); 100_000]).unwrap();
    let squared = ops::mean_squared_error_init(&arena, &x, &y, 1e-5).unwrap();
    assert_eq!(squared.to_vec().unwrap()[0].to_f64(), 9.0);
    let absolute = ops::mean_absolute_error_init(&arena, &x, &y, 1e-5).unwrap();
    assert_eq!(absolute.to_vec().unwrap()[0].to_f64(), 3.0);
}

#[test]
fn nothing_has_no_error() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let (x, y) = (array::<f64, 2>(&rt, [0, 3], 1), array::<f64, 2>(&rt, [0, 3], 2));
    assert_eq!(ops::mean_squared_error_init(&arena, &x, &y, 1.0).unwrap().to_vec().unwrap(), [0.0]);
}

#[test]
fn nan_stays() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let (x, y) = (rt.from_vec([1], vec![f32::NAN]).unwrap(), rt.from_vec([1], vec![1.0_f32]).unwrap());
    let of = |array: dahl::Result<Vector<'_, f32>>| array.unwrap().to_vec().unwrap()[0];
    assert!(of(ops::mean_absolute_error_backward_init(&arena, &x, &y, 1.0)).is_nan());
    assert!(of(ops::mean_squared_error_backward_init(&arena, &x, &y, 1.0)).is_nan());
}

#[test]
fn wrong_shapes_are_refused() {
    let rt = Runtime::new().unwrap();
    let (x, y) = (array::<f32, 2>(&rt, [2, 3], 1), array::<f32, 2>(&rt, [3, 2], 1));
    let mut out = rt.zeros([]).unwrap();
    assert_refused(
        ops::mean_squared_error(&x, &y, &mut out, 1.0),
        &["mean_squared_error", "[2, 3]", "[3, 2]"],
    );
}
