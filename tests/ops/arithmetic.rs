//! Arithmetic of one and two elements at special values; `elementwise` has the ordinary ones.

use dahl::ops;
use dahl::prelude::*;

use crate::reference::assert_value;

const NAN: f64 = f64::NAN;
const INFINITY: f64 = f64::INFINITY;

values_of_one! {
    neg_init(): [(1.5, -1.5), (0.0, -0.0), (-0.0, 0.0), (INFINITY, -INFINITY), (NAN, NAN)];
    abs_init(): [(-1.5, 1.5), (1.5, 1.5), (-0.0, 0.0), (-INFINITY, INFINITY), (NAN, NAN)];
    sign_init(): [(-2.5, -1.0), (1e-40, 1.0), (0.0, 0.0), (-0.0, 0.0), (-INFINITY, -1.0), (NAN, NAN)];
    square_init(): [(-3.0, 9.0), (-0.0, 0.0), (1e30, INFINITY), (-INFINITY, INFINITY), (NAN, NAN)];
    recip_init(): [(4.0, 0.25), (0.0, INFINITY), (-0.0, -INFINITY), (-INFINITY, -0.0), (NAN, NAN)];
    power_value_init(3.0): [(2.0, 8.0), (-2.0, -8.0), (-0.0, -0.0), (-INFINITY, -INFINITY), (NAN, NAN)];
}

values_of_two! {
    power_init(): [(2.0, 10.0, 1024.0), (2.0, -1.0, 0.5), (-2.0, 3.0, -8.0), (-2.0, 0.5, NAN), (0.0, 0.0, 1.0), (NAN, 0.0, 1.0), (0.0, -1.0, INFINITY), (INFINITY, -1.0, 0.0)];
}

gradients_of_one! {
    abs_by_x: abs_init(): [(2.0, 3.0, 3.0), (-2.0, 3.0, -3.0), (0.0, 3.0, 0.0), (-0.0, 3.0, 0.0), (NAN, 3.0, NAN)];
    square_by_x: square_init(): [(3.0, 2.0, 12.0), (0.0, 2.0, 0.0)];
    recip_by_x: recip_init(): [(2.0, 2.0, -0.5), (-0.25, 1.0, -16.0)];
    sqrt_by_x: sqrt_init(): [(4.0, 3.0, 0.75), (0.0, 3.0, INFINITY)];
    power_value_by_x: power_value_init(3.0): [(2.0, 1.0, 12.0), (-2.0, 0.5, 6.0), (0.0, 1.0, 0.0)];
}
