//! Arithmetic and powers.

use dahl::ops::*;

function!(abs: abs_init(), x in -1.0..1.0, kink 0.0);
function!(square: square_init(), x in -3.0..3.0);
function!(recip: recip_init(), x in 0.25..9.0);
function!(sqrt: sqrt_init(), x in 0.25..9.0);
function!(power_value: power_value_init(2.5), x in 0.25..3.0);

// Bases of both signs have powers with integers.
function!(cube: power_value_init(3.0), x in -3.0..3.0);

gradients!(power: [x: [4, 5] in 0.25..3.0, y: [4, 5] in -2.0..2.0],
    |tape| power_init(tape, x, y)
);
