//! Activations.

use dahl::ops::*;

function!(sigmoid: Sigmoid sigmoid_init(), x in -6.0..6.0);
function!(log_sigmoid: LogSigmoid log_sigmoid_init(), x in -6.0..6.0);
function!(softplus: Softplus softplus_init(), x in -6.0..6.0);
function!(softplus_scaled: SoftplusScaled softplus_scaled_init(1.5, 4.0), x in -6.0..6.0, kink 2.6666666666666665);
function!(silu: Silu silu_init(), x in -6.0..6.0);
function!(relu: Relu relu_init(), x in -1.0..1.0, kink 0.0);
function!(leaky_relu: LeakyRelu leaky_relu_init(0.25), x in -1.0..1.0, kink 0.0);
function!(celu: Celu celu_init(0.75), x in -3.0..3.0, kink 0.0);
function!(mish: Mish mish_init(), x in -6.0..6.0);
function!(softsign: Softsign softsign_init(), x in -3.0..3.0, kink 0.0);
function!(tanh_shrink: TanhShrink tanh_shrink_init(), x in -3.0..3.0);
function!(elu: Elu elu_init(0.75), x in -3.0..3.0, kink 0.0);
function!(selu: Selu selu_init(), x in -3.0..3.0, kink 0.0);
function!(gelu: Gelu gelu_init(), x in -5.0..5.0);
function!(gelu_tanh: GeluTanh gelu_tanh_init(), x in -5.0..5.0);
gradients!(prelu: [x: [4, 5] in -1.0..1.0, slope: [1, 5] in 0.1..0.9],
    |tape| prelu_init(tape, x, slope),
    with kink(0.0)
);
gradients!(glu: [value: [4, 5], gate: [4, 5] in -5.0..5.0],
    |tape| glu_init(tape, value, gate)
);
