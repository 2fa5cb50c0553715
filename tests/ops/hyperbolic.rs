//! Hyperbolic functions and their inverses.

use dahl::ops;
use dahl::prelude::*;

use crate::reference::assert_value;

const NAN: f64 = f64::NAN;
const INFINITY: f64 = f64::INFINITY;

values_of_one! {
    sinh_init(): [(1.0, 1.1752012), (-10.0, -11013.233), (0.0, 0.0), (-0.0, -0.0), (100.0, INFINITY), (-INFINITY, -INFINITY), (NAN, NAN)];
    cosh_init(): [(1.0, 1.5430806), (-10.0, 11013.233), (0.0, 1.0), (-INFINITY, INFINITY), (NAN, NAN)];
    asinh_init(): [(1.0, 0.88137359), (-100.0, -5.2983424), (0.0, 0.0), (-0.0, -0.0), (INFINITY, INFINITY), (-INFINITY, -INFINITY), (NAN, NAN)];
    acosh_init(): [(2.0, 1.3169579), (100.0, 5.2982924), (1.0, 0.0), (0.5, NAN), (INFINITY, INFINITY), (NAN, NAN)];
    atanh_init(): [(0.5, 0.54930614), (-0.25, -0.25541281), (0.0, 0.0), (-0.0, -0.0), (1.0, INFINITY), (-1.0, -INFINITY), (2.0, NAN), (NAN, NAN)];
}

gradients_of_one! {
    sinh_by_x: sinh_init(): [(0.0, 2.0, 2.0), (1.0, 2.0, 3.0861613)];
    cosh_by_x: cosh_init(): [(0.0, 2.0, 0.0), (-1.0, 2.0, -2.3504024)];
    asinh_by_x: asinh_init(): [(0.0, 2.0, 2.0), (-1.0, 2.0, 1.4142136), (1e30, 1e30, 1.0)];
    acosh_by_x: acosh_init(): [(2.0, 3.0, 1.7320508), (1.0, 1.0, INFINITY), (0.0, 1.0, NAN)];
    atanh_by_x: atanh_init(): [(0.0, 2.0, 2.0), (0.5, 3.0, 4.0), (-1.0, 1.0, INFINITY)];
    tanh_by_x: tanh_init(): [(0.54930614, 2.0, 1.5), (20.0, 2.0, 0.0), (-20.0, 2.0, 0.0)];
}
