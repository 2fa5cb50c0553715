//! Trigonometric functions and their inverses.

use dahl::ops::*;

function!(sin: sin_init(), x in -9.0..9.0);
function!(cos: cos_init(), x in -9.0..9.0);
function!(tan: tan_init(), x in -1.25..1.25);
function!(asin: asin_init(), x in -0.9..0.9);
function!(acos: acos_init(), x in -0.9..0.9);
function!(atan: atan_init(), x in -9.0..9.0);

gradients!(atan2_to_the_right: [y: [4, 5] in -3.0..3.0, x: [4, 5] in 0.25..3.0],
    |tape| atan2_init(tape, y, x)
);

gradients!(atan2_above: [y: [4, 5] in 0.25..3.0, x: [4, 5] in -3.0..3.0],
    |tape| atan2_init(tape, y, x)
);
