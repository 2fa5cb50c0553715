//! Exponential functions and logarithms at special values and where naive formulas fail.

use dahl::ops;
use dahl::prelude::*;

use crate::reference::assert_value;

const NAN: f64 = f64::NAN;
const INFINITY: f64 = f64::INFINITY;

values_of_one! {
    exp2_init(): [(3.0, 8.0), (-1.0, 0.5), (-INFINITY, 0.0), (INFINITY, INFINITY), (200.0, INFINITY), (NAN, NAN)];
    expm1_init(): [(1e-6, 1.0000005e-6), (1.0, 1.7182818), (-1.0, -0.63212056), (0.0, 0.0), (-0.0, -0.0), (-INFINITY, -1.0), (INFINITY, INFINITY), (NAN, NAN)];
    log2_init(): [(8.0, 3.0), (0.125, -3.0), (0.0, -INFINITY), (-0.0, -INFINITY), (-1.0, NAN), (INFINITY, INFINITY), (NAN, NAN)];
    log10_init(): [(1000.0, 3.0), (0.0, -INFINITY), (-1.0, NAN), (INFINITY, INFINITY), (NAN, NAN)];
    log1p_init(): [(1e-6, 9.999995e-7), (1.0, 0.69314718), (-0.5, -0.69314718), (0.0, 0.0), (-0.0, -0.0), (-1.0, -INFINITY), (-2.0, NAN), (INFINITY, INFINITY), (NAN, NAN)];
}

gradients_of_one! {
    exp_by_x: exp_init(): [(0.69314718, 3.0, 6.0)];
    exp2_by_x: exp2_init(): [(1.0, 3.0, 4.1588831)];
    expm1_by_x: expm1_init(): [(-20.0, 1.0, 2.0611536e-9), (1.0, 2.0, 5.4365637)];
    ln_by_x: ln_init(): [(4.0, 1.0, 0.25), (0.0, 1.0, INFINITY)];
    log2_by_x: log2_init(): [(4.0, 1.0, 0.36067376)];
    log10_by_x: log10_init(): [(4.0, 1.0, 0.10857362)];
    log1p_by_x: log1p_init(): [(3.0, 1.0, 0.25), (-1.0, 1.0, INFINITY)];
}
