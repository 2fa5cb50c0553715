//! Exponential functions and logarithms.

use dahl::ops::*;

function!(exp: Exp exp_init(), x in -3.0..3.0);
function!(exp2: Exp2 exp2_init(), x in -3.0..3.0);
function!(expm1: Expm1 expm1_init(), x in -3.0..3.0);
function!(ln: Ln ln_init(), x in 0.25..9.0);
function!(log2: Log2 log2_init(), x in 0.25..9.0);
function!(log10: Log10 log10_init(), x in 0.25..9.0);
function!(log1p: Log1p log1p_init(), x in -0.75..9.0);
