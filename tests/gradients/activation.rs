//! Activations.

use dahl::ops::*;

function!(sigmoid: sigmoid_init, sigmoid_backward_init(output), x in -6.0..6.0);
function!(log_sigmoid: log_sigmoid_init, log_sigmoid_backward_init(x), x in -6.0..6.0);
function!(softplus: softplus_init, softplus_backward_init(x), x in -6.0..6.0);
function!(silu: silu_init, silu_backward_init(x), x in -6.0..6.0);
function!(relu: relu_init, relu_backward_init(x), x in -1.0..1.0, kink 0.0);
function!(leaky_relu: leaky_relu_init, leaky_relu_backward_init(x, 0.25), x in -1.0..1.0, kink 0.0);
function!(elu: elu_init, elu_backward_init(x, 0.75), x in -3.0..3.0, kink 0.0);
function!(selu: selu_init, selu_backward_init(x), x in -3.0..3.0, kink 0.0);
function!(gelu: gelu_init, gelu_backward_init(x), x in -5.0..5.0);
function!(gelu_tanh: gelu_tanh_init, gelu_tanh_backward_init(x), x in -5.0..5.0);
