//! Piecewise linear activations, away from their kinks.

use dahl::ops::*;

function!(hard_sigmoid: HardSigmoid hard_sigmoid_init(), x in -4.5..4.5, kink -3.0, kink 3.0);
function!(hard_swish: HardSwish hard_swish_init(), x in -4.5..4.5, kink -3.0, kink 3.0);
function!(hard_tanh: HardTanh hard_tanh_init(), x in -2.0..2.0, kink -1.0, kink 1.0);
