//! Hyperbolic functions and their inverses.

use dahl::ops::*;

function!(sinh: sinh_init, sinh_backward_init(x), x in -3.0..3.0);
function!(cosh: cosh_init, cosh_backward_init(x), x in -3.0..3.0);
function!(tanh: tanh_init, tanh_backward_init(output), x in -3.0..3.0);
function!(asinh: asinh_init, asinh_backward_init(x), x in -9.0..9.0);
function!(acosh: acosh_init, acosh_backward_init(x), x in 1.25..9.0);
function!(atanh: atanh_init, atanh_backward_init(x), x in -0.9..0.9);
