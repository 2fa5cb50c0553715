use super::*;
use dahl::testing::within;

numerics!(hard_sigmoid: ops::HardSigmoid, ([31, 67], _), ());
numerics!(hard_sigmoid_backward: ops::HardSigmoidBackward, (within(-4.0, 4.0, [31, 67]), [31, 67], _), ());
numerics!(hard_swish: ops::HardSwish, (within(-100.0, 100.0, [31, 67]), _), ());
numerics!(hard_swish_backward: ops::HardSwishBackward, (within(-4.0, 4.0, [31, 67]), within(-10.0, 10.0, [31, 67]), _), ());
numerics!(hard_tanh: ops::HardTanh, ([31, 67], _), ());
numerics!(hard_tanh_backward: ops::HardTanhBackward, ([31, 67], [31, 67], _), ());
