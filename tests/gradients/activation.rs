//! Activations.

use dahl::ops::*;

function!(sigmoid: sigmoid_init(), x in -6.0..6.0);
function!(log_sigmoid: log_sigmoid_init(), x in -6.0..6.0);
function!(softplus: softplus_init(), x in -6.0..6.0);
function!(silu: silu_init(), x in -6.0..6.0);
function!(relu: relu_init(), x in -1.0..1.0, kink 0.0);
function!(leaky_relu: leaky_relu_init(0.25), x in -1.0..1.0, kink 0.0);
function!(elu: elu_init(0.75), x in -3.0..3.0, kink 0.0);
function!(selu: selu_init(), x in -3.0..3.0, kink 0.0);
function!(gelu: gelu_init(), x in -5.0..5.0);
function!(gelu_tanh: gelu_tanh_init(), x in -5.0..5.0);
