//! Piecewise linear activation functions, at their kinks and special values.

use dahl::ops;
use dahl::prelude::*;

use crate::reference::assert_value;

const NAN: f64 = f64::NAN;
const INFINITY: f64 = f64::INFINITY;

values_of_one! {
    hard_sigmoid_init(): [(-3.0, 0.0), (3.0, 1.0), (0.0, 0.5), (1.5, 0.75), (-INFINITY, 0.0), (INFINITY, 1.0), (NAN, NAN)];
    hard_swish_init(): [(-3.0, -0.0), (3.0, 3.0), (1.5, 1.125), (-1.5, -0.375), (INFINITY, INFINITY), (-INFINITY, NAN), (NAN, NAN)];
    relu6_init(): [(-1.5, 0.0), (0.5, 0.5), (7.0, 6.0), (INFINITY, 6.0), (-INFINITY, 0.0), (NAN, NAN)];
    threshold_init(0.5, 20.0): [(0.25, 20.0), (0.5, 20.0), (0.75, 0.75), (-INFINITY, 20.0), (INFINITY, INFINITY), (NAN, NAN)];
    hard_shrink_init(0.5): [(0.25, 0.0), (0.5, 0.0), (-0.5, 0.0), (-0.75, -0.75), (INFINITY, INFINITY), (-INFINITY, -INFINITY), (NAN, NAN)];
    soft_shrink_init(0.5): [(0.25, 0.0), (0.5, 0.0), (-0.75, -0.25), (2.0, 1.5), (INFINITY, INFINITY), (-INFINITY, -INFINITY), (NAN, NAN)];
    hard_tanh_init(-1.0, 1.0): [(-1.5, -1.0), (0.5, 0.5), (7.0, 1.0), (-0.0, -0.0), (INFINITY, 1.0), (-INFINITY, -1.0), (NAN, NAN)];
}

gradients_of_one! {
    hard_sigmoid_by_x: hard_sigmoid_init(): [(0.0, 3.0, 0.5), (-3.0, 3.0, 0.0), (3.0, 3.0, 0.0)];
    hard_swish_by_x: hard_swish_init(): [(-3.0, 2.0, 0.0), (0.0, 2.0, 1.0), (3.0, 2.0, 2.0), (1.5, 2.0, 2.0), (-1.5, 2.0, 0.0)];
    relu6_by_x: relu6_init(): [(0.5, 3.0, 3.0), (0.0, 3.0, 0.0), (6.0, 3.0, 0.0), (-1.0, 3.0, 0.0), (NAN, 3.0, 3.0)];
    threshold_by_x: threshold_init(0.5, 20.0): [(0.5, 3.0, 0.0), (0.75, 3.0, 3.0), (NAN, 3.0, 3.0)];
    hard_shrink_by_x: hard_shrink_init(0.5): [(0.5, 3.0, 0.0), (-0.75, 3.0, 3.0), (NAN, 3.0, 3.0)];
    soft_shrink_by_x: soft_shrink_init(0.5): [(-0.5, 3.0, 0.0), (-0.75, 3.0, 3.0), (0.75, 3.0, 3.0), (NAN, 3.0, 3.0)];
    hard_tanh_by_x: hard_tanh_init(-1.0, 1.0): [(0.5, 3.0, 3.0), (1.0, 3.0, 0.0), (-1.0, 3.0, 0.0), (2.0, 3.0, 0.0), (NAN, 3.0, 3.0)];
}
