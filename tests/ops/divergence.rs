//! The Kullback-Leibler divergence, also of a target of 0.

use dahl::ops;
use dahl::prelude::*;

use crate::reference::assert_value;

const INFINITY: f64 = f64::INFINITY;

values_of_two! {
    kl_divergence_init(): [(-1.0, 1.0, 1.0), (0.0, 0.0, 0.0), (-INFINITY, 0.0, 0.0), (-INFINITY, 0.5, INFINITY), (0.0, f64::NAN, f64::NAN)];
    kl_divergence_of_logarithms_init(): [(-1.0, 0.0, 1.0), (-2.0, -2.0, 0.0), (-INFINITY, 0.0, INFINITY)];
}
