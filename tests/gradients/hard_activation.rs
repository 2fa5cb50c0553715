//! Piecewise linear activations, away from their kinks.

use dahl::ops::*;

function!(hard_sigmoid: hard_sigmoid_init, hard_sigmoid_backward_init(x), x in -4.5..4.5, kink -3.0, kink 3.0);
function!(hard_swish: hard_swish_init, hard_swish_backward_init(x), x in -4.5..4.5, kink -3.0, kink 3.0);
function!(hard_tanh: hard_tanh_init, hard_tanh_backward_init(x), x in -2.0..2.0, kink -1.0, kink 1.0);
