//! Hyperbolic functions and their inverses.

use dahl::ops::*;

function!(sinh: Sinh sinh_init(), x in -3.0..3.0);
function!(cosh: Cosh cosh_init(), x in -3.0..3.0);
function!(tanh: Tanh tanh_init(), x in -3.0..3.0);
function!(asinh: Asinh asinh_init(), x in -9.0..9.0);
function!(acosh: Acosh acosh_init(), x in 1.25..9.0);
function!(atanh: Atanh atanh_init(), x in -0.9..0.9);
