//! Functions of single elements.

use dahl::ops::*;

function!(tanh: tanh_init, tanh_backward_init(output), x in -3.0..3.0);
function!(sigmoid: sigmoid_init, sigmoid_backward_init(output), x in -6.0..6.0);
function!(relu: relu_init, relu_backward_init(x), x in -1.0..1.0, kink 0.0);
