//! Trigonometric functions and their inverses.

use dahl::ops;
use dahl::prelude::*;

use crate::reference::assert_value;

const NAN: f64 = f64::NAN;
const INFINITY: f64 = f64::INFINITY;

values_of_one! {
    sin_init(): [(1.0, 0.84147098), (-100.0, 0.50636564), (0.0, 0.0), (-0.0, -0.0), (INFINITY, NAN), (NAN, NAN)];
    cos_init(): [(1.0, 0.54030231), (-100.0, 0.86231887), (0.0, 1.0), (-INFINITY, NAN), (NAN, NAN)];
    tan_init(): [(1.0, 1.5574077), (-100.0, 0.58721392), (0.0, 0.0), (-0.0, -0.0), (INFINITY, NAN), (NAN, NAN)];
    asin_init(): [(1.0, 1.5707963), (-1.0, -1.5707963), (0.5, 0.52359878), (0.0, 0.0), (-0.0, -0.0), (1.5, NAN), (NAN, NAN)];
    acos_init(): [(-1.0, 3.1415927), (0.5, 1.0471976), (1.0, 0.0), (-1.5, NAN), (NAN, NAN)];
    atan_init(): [(1.0, 0.78539816), (-100.0, -1.5607967), (0.0, 0.0), (-0.0, -0.0), (INFINITY, 1.5707963), (-INFINITY, -1.5707963), (NAN, NAN)];
}

values_of_two! {
    atan2_init(): [(1.0, -1.0, 2.3561945), (0.0, -1.0, 3.1415927), (-0.0, -1.0, -3.1415927), (0.0, 0.0, 0.0), (INFINITY, INFINITY, 0.78539816), (NAN, 1.0, NAN)];
}

gradients_of_one! {
    sin_by_x: sin_init(): [(0.0, 2.0, 2.0), (1.0, 2.0, 1.0806046)];
    cos_by_x: cos_init(): [(0.0, 2.0, -0.0), (1.0, 2.0, -1.682942)];
    tan_by_x: tan_init(): [(1.1071487, 3.0, 15.0)];
    asin_by_x: asin_init(): [(0.0, 2.0, 2.0), (0.5, 1.0, 1.1547005), (1.0, 1.0, INFINITY), (2.0, 1.0, NAN)];
    acos_by_x: acos_init(): [(0.0, 2.0, -2.0), (0.5, 1.0, -1.1547005), (1.0, 1.0, -INFINITY), (2.0, 1.0, NAN)];
    atan_by_x: atan_init(): [(0.0, 2.0, 2.0), (-3.0, 1.0, 0.1), (1e20, 1e30, 1e-10), (INFINITY, 1.0, 0.0)];
}
