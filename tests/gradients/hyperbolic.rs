//! Hyperbolic functions and their inverses.

use dahl::ops::*;

function!(sinh: sinh_init(), x in -3.0..3.0);
function!(cosh: cosh_init(), x in -3.0..3.0);
function!(tanh: tanh_init(), x in -3.0..3.0);
function!(asinh: asinh_init(), x in -9.0..9.0);
function!(acosh: acosh_init(), x in 1.25..9.0);
function!(atanh: atanh_init(), x in -0.9..0.9);
