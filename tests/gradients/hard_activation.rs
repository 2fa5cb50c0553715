//! Piecewise linear activations, away from their kinks.

use dahl::ops::*;

function!(hard_sigmoid: HardSigmoid hard_sigmoid_init(), x in -4.5..4.5, kink -3.0, kink 3.0);
function!(hard_swish: HardSwish hard_swish_init(), x in -4.5..4.5, kink -3.0, kink 3.0);
function!(hard_tanh: HardTanh hard_tanh_init(-1.0, 1.0), x in -2.0..2.0, kink -1.0, kink 1.0);
function!(relu6: Relu6 relu6_init(), x in -2.0..8.0, kink 0.0, kink 6.0);
function!(threshold: Threshold threshold_init(0.5, 20.0), x in -2.0..2.0, kink 0.5);
function!(hard_shrink: HardShrink hard_shrink_init(0.5), x in -2.0..2.0, kink -0.5, kink 0.5);
function!(soft_shrink: SoftShrink soft_shrink_init(0.5), x in -2.0..2.0, kink -0.5, kink 0.5);
