//! Exponential functions and logarithms.

use dahl::ops::*;

function!(exp: exp_init, exp_backward_init(output), x in -3.0..3.0);
function!(exp2: exp2_init, exp2_backward_init(output), x in -3.0..3.0);
function!(expm1: expm1_init, expm1_backward_init(x), x in -3.0..3.0);
function!(ln: ln_init, ln_backward_init(x), x in 0.25..9.0);
function!(log2: log2_init, log2_backward_init(x), x in 0.25..9.0);
function!(log10: log10_init, log10_backward_init(x), x in 0.25..9.0);
function!(log1p: log1p_init, log1p_backward_init(x), x in -0.75..9.0);
