//! Arithmetic and powers.

use dahl::ops::*;

function!(abs: Abs abs_init(), x in -1.0..1.0, kink 0.0);
function!(square: Square square_init(), x in -3.0..3.0);
function!(recip: Recip recip_init(), x in 0.25..9.0);
function!(sqrt: Sqrt sqrt_init(), x in 0.25..9.0);
function!(power_value: PowerValue power_value_init(2.5), x in 0.25..3.0);

// Bases of both signs have powers with integers.
function!(cube: PowerValue power_value_init(3.0), x in -3.0..3.0);

gradients!(power: [x: [4, 5] in 0.25..3.0, y: [4, 5] in -2.0..2.0],
    |tape| power_init(tape, x, y)
);
