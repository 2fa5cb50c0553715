//! The error function.

use dahl::ops;
use dahl::prelude::*;

use crate::reference::assert_value;

const NAN: f64 = f64::NAN;
const INFINITY: f64 = f64::INFINITY;

values_of_one! {
    erf_init(): [(1.0, 0.84270079), (-0.5, -0.52049988), (1e-6, 1.1283792e-6), (3.0, 0.99997791), (0.0, 0.0), (-0.0, -0.0), (INFINITY, 1.0), (-INFINITY, -1.0), (100.0, 1.0), (NAN, NAN)];
}

gradients_of_one! {
    erf_by_x: erf_init(): [(0.0, 1.0, 1.1283792), (-3.0, 2.0, 0.0002785061), (INFINITY, 1.0, 0.0), (1e30, 1.0, 0.0), (NAN, 1.0, NAN)];
}
