//! Trigonometric functions and their inverses.

use dahl::ops::*;

function!(sin: Sin sin_init(), x in -9.0..9.0);
function!(cos: Cos cos_init(), x in -9.0..9.0);
function!(tan: Tan tan_init(), x in -1.25..1.25);
function!(asin: Asin asin_init(), x in -0.9..0.9);
function!(acos: Acos acos_init(), x in -0.9..0.9);
function!(atan: Atan atan_init(), x in -9.0..9.0);

gradients!(atan2_to_the_right: [y: [4, 5] in -3.0..3.0, x: [4, 5] in 0.25..3.0],
    |tape| atan2_init(tape, y, x)
);

gradients!(atan2_above: [y: [4, 5] in 0.25..3.0, x: [4, 5] in -3.0..3.0],
    |tape| atan2_init(tape, y, x)
);
