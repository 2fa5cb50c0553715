//! Rounding to integers.

use dahl::ops;
use dahl::prelude::*;

use crate::reference::assert_value;

const NAN: f64 = f64::NAN;
const INFINITY: f64 = f64::INFINITY;

values_of_one! {
    round_init(): [(0.5, 0.0), (1.5, 2.0), (2.5, 2.0), (-0.5, -0.0), (-2.5, -2.0), (8388609.0, 8388609.0), (INFINITY, INFINITY), (-INFINITY, -INFINITY), (NAN, NAN), (0.0, 0.0), (-0.0, -0.0)];
    floor_init(): [(1.5, 1.0), (-1.5, -2.0), (INFINITY, INFINITY), (NAN, NAN), (0.0, 0.0), (-0.0, -0.0)];
    ceil_init(): [(1.5, 2.0), (-1.5, -1.0), (-0.5, -0.0), (-INFINITY, -INFINITY), (NAN, NAN), (0.0, 0.0), (-0.0, -0.0)];
    trunc_init(): [(1.5, 1.0), (-1.5, -1.0), (-0.5, -0.0), (INFINITY, INFINITY), (NAN, NAN), (0.0, 0.0), (-0.0, -0.0)];
}
