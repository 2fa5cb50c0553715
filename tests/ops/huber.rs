//! Losses that are quadratic near zero and linear far from it: at their bends, and with special values.

use dahl::ops;
use dahl::prelude::*;

use crate::reference::{assert_refused, assert_value};

const NAN: f64 = f64::NAN;
const INFINITY: f64 = f64::INFINITY;

values_of_two! {
    huber_init(2.0): [(1.0, 1.0, 0.0), (2.0, 1.0, 0.5), (-1.0, 1.0, 2.0), (5.0, 1.0, 6.0), (INFINITY, 0.0, INFINITY), (NAN, 0.0, NAN)];
    smooth_l1_init(2.0): [(1.0, 1.0, 0.0), (2.0, 1.0, 0.25), (-1.0, 1.0, 1.0), (5.0, 1.0, 3.0), (-INFINITY, 0.0, INFINITY), (0.0, NAN, NAN)];
}

#[test]
fn without_a_bend_it_is_the_absolute_error() {
    let rt = Runtime::new().unwrap();
    let tape = rt.tape();
    let x = rt.from_vec([3], vec![1.0_f32, -3.0, 2.0]).unwrap();
    let y = rt.from_vec([3], vec![1.0_f32, 1.0, 1.0]).unwrap();
    let loss = ops::smooth_l1_init(&tape, &x, &y, 0.0).unwrap();
    assert_eq!(loss.to_vec().unwrap(), [0.0, 4.0, 1.0]);
    let total = ops::sum_init(&tape, &loss).unwrap();
    assert_eq!(tape.gradients(&total, &x).unwrap().to_vec().unwrap(), [0.0, -1.0, 1.0]);
}

#[test]
fn bends_at_no_number_are_refused() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let x = rt.zeros::<f32, 1>([3]).unwrap();
    for delta in [0.0, -1.0, NAN] {
        assert_refused(ops::huber_init(&arena, &x, &x, delta), &["huber", "delta"]);
    }
    assert_refused(ops::smooth_l1_init(&arena, &x, &x, -1.0), &["smooth_l1", "beta"]);
}
