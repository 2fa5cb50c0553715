//! Activation functions at special values, kinks and where naive formulas fail.

use dahl::ops;
use dahl::prelude::*;

use crate::reference::assert_value;

const NAN: f64 = f64::NAN;
const INFINITY: f64 = f64::INFINITY;

values_of_one! {
    sigmoid_init(): [(1.0, 0.73105858), (-1.0, 0.26894142), (-80.0, 1.8048514e-35), (0.0, 0.5), (-88.5, 3.6723017e-39), (-INFINITY, 0.0), (INFINITY, 1.0), (NAN, NAN)];
    log_sigmoid_init(): [(1.0, -0.31326169), (-1.0, -1.3132617), (20.0, -2.0611536e-9), (-1000.0, -1000.0), (-INFINITY, -INFINITY), (INFINITY, -0.0), (NAN, NAN)];
    softplus_init(): [(1.0, 1.3132617), (-1.0, 0.31326169), (0.0, 0.69314718), (-80.0, 1.8048514e-35), (1000.0, 1000.0), (-INFINITY, 0.0), (INFINITY, INFINITY), (NAN, NAN)];
    softplus_scaled_init(2.0, 5.0): [(1.0, 1.0634640), (-1.0, 0.063464), (0.0, 0.34657359), (2.5, 2.5033577), (2.75, 2.75), (-40.0, 9.0242569e-36), (1000.0, 1000.0), (-INFINITY, 0.0), (INFINITY, INFINITY), (NAN, NAN)];
    silu_init(): [(1.0, 0.73105858), (-1.0, -0.26894142), (-50.0, -9.6437492e-21), (1000.0, 1000.0), (0.0, 0.0), (-0.0, -0.0), (INFINITY, INFINITY), (-INFINITY, NAN), (NAN, NAN)];
    leaky_relu_init(0.25): [(2.0, 2.0), (-2.0, -0.5), (0.0, 0.0), (-0.0, -0.0), (INFINITY, INFINITY), (-INFINITY, -INFINITY), (NAN, NAN)];
    elu_init(1.5): [(2.0, 2.0), (-1.0, -0.94818084), (-1e-6, -1.4999993e-6), (-INFINITY, -1.5), (INFINITY, INFINITY), (NAN, NAN), (0.0, 0.0), (-0.0, -0.0)];
    celu_init(2.0): [(2.0, 2.0), (-1.0, -0.78693868), (-INFINITY, -2.0), (INFINITY, INFINITY), (NAN, NAN), (0.0, 0.0), (-0.0, -0.0)];
    mish_init(): [(1.0, 0.86509839), (-1.0, -0.30340146), (-50.0, -9.6437492e-21), (1000.0, 1000.0), (0.0, 0.0), (-0.0, -0.0), (INFINITY, INFINITY), (-INFINITY, NAN), (NAN, NAN)];
    softsign_init(): [(1.0, 0.5), (-3.0, -0.75), (0.0, 0.0), (-0.0, -0.0), (INFINITY, NAN), (NAN, NAN)];
    tanh_shrink_init(): [(1.0, 0.23840584), (-2.0, -1.0359724), (0.0, 0.0), (INFINITY, INFINITY), (-INFINITY, -INFINITY), (NAN, NAN)];
    selu_init(): [(1.0, 1.050701), (-1.0, -1.1113307), (-INFINITY, -1.7580993), (INFINITY, INFINITY), (NAN, NAN), (0.0, 0.0), (-0.0, -0.0)];
    gelu_init(): [(1.0, 0.84134475), (-1.0, -0.15865525), (-5.0, -1.4332579e-6), (-10.0, -7.619853e-23), (100.0, 100.0), (-1000.0, -0.0), (INFINITY, INFINITY), (-INFINITY, NAN), (NAN, NAN), (0.0, 0.0), (-0.0, -0.0)];
    gelu_tanh_init(): [(1.0, 0.84119199), (-1.0, -0.15880801), (-3.0, -0.0036373921), (100.0, 100.0), (-1000.0, -0.0), (1e30, 1e30), (INFINITY, INFINITY), (-INFINITY, NAN), (NAN, NAN), (0.0, 0.0), (-0.0, -0.0)];
}

values_of_two! {
    sigmoid_backward_init(): [(0.25, 2.0, 0.375), (1.0, 5.0, 0.0), (0.0, 5.0, 0.0), (NAN, 1.0, NAN), (0.5, NAN, NAN)];
    log_sigmoid_backward_init(): [(0.0, 2.0, 1.0), (-1000.0, 2.0, 2.0), (1000.0, 2.0, 0.0), (1.0, 3.0, 0.80682426)];
    softplus_backward_init(): [(0.0, 2.0, 1.0), (1000.0, 2.0, 2.0), (-1000.0, 2.0, 0.0), (1.0, 3.0, 2.1931757)];
    prelu_init(): [(2.0, 0.25, 2.0), (-2.0, 0.25, -0.5), (0.0, 3.0, 0.0), (-INFINITY, 0.5, -INFINITY), (NAN, 0.5, NAN), (-1.0, NAN, NAN), (1.0, NAN, 1.0)];
    glu_init(): [(2.0, 0.0, 1.0), (3.0, 1.0, 2.1931757), (3.0, -1.0, 0.80682426), (2.0, INFINITY, 2.0), (2.0, -INFINITY, 0.0), (NAN, 1.0, NAN), (1.0, NAN, NAN)];
    mish_backward_init(): [(0.0, 2.0, 1.2), (1000.0, 2.0, 2.0), (1.0, 2.0, 2.0980724), (-2.0, 1.0, -0.10835509), (NAN, 1.0, NAN)];
    softsign_backward_init(): [(0.0, 2.0, 2.0), (1.0, 2.0, 0.5), (-3.0, 8.0, 0.5), (INFINITY, 2.0, 0.0), (NAN, 1.0, NAN)];
    tanh_shrink_backward_init(): [(0.0, 2.0, 0.0), (1.0, 2.0, 1.1600513), (-INFINITY, 2.0, 2.0), (NAN, 1.0, NAN)];
    silu_backward_init(): [(0.0, 2.0, 1.0), (1000.0, 2.0, 2.0), (1.0, 2.0, 1.855341), (-2.0, 1.0, -0.090784249), (NAN, 1.0, NAN)];
    gelu_backward_init(): [(0.0, 2.0, 1.0), (1.0, 2.0, 2.1666309), (-2.0, 1.0, -0.085231801), (INFINITY, 3.0, 3.0), (-INFINITY, 3.0, 0.0), (NAN, 1.0, NAN)];
    gelu_tanh_backward_init(): [(0.0, 2.0, 1.0), (1.0, 2.0, 2.1659282), (-2.0, 1.0, -0.086099257), (INFINITY, 3.0, 3.0), (-INFINITY, 3.0, -0.0), (NAN, 1.0, NAN)];
}

gradients_of_one! {
    leaky_relu_by_x: leaky_relu_init(0.25): [(2.0, 3.0, 3.0), (-2.0, 3.0, 0.75), (0.0, 3.0, 0.75)];
    softplus_scaled_by_x: softplus_scaled_init(2.0, 5.0): [(0.0, 2.0, 1.0), (2.5, 3.0, 2.9799214), (2.75, 3.0, 3.0), (-1000.0, 2.0, 0.0), (INFINITY, 2.0, 2.0), (NAN, 2.0, NAN)];
    softplus_scaled_by_x_of_negative_beta: softplus_scaled_init(-2.0, 20.0): [(1.0, 3.0, 0.35760876), (-1.0, 3.0, 2.6423912), (-1000.0, 3.0, 3.0)];
    elu_by_x: elu_init(1.5): [(2.0, 3.0, 3.0), (0.0, 3.0, 4.5), (-1.0, 2.0, 1.1036383), (-INFINITY, 2.0, 0.0)];
    celu_by_x: celu_init(2.0): [(2.0, 3.0, 3.0), (0.0, 3.0, 3.0), (-1.0, 2.0, 1.2130613), (-INFINITY, 2.0, 0.0)];
    selu_by_x: selu_init(): [(2.0, 3.0, 3.152103), (0.0, 1.0, 1.7580993), (-1.0, 2.0, 1.2935372), (-INFINITY, 2.0, 0.0)];
}
