use super::*;
use dahl::testing::within;

numerics!(hard_sigmoid: ops::codelets::HardSigmoid, ([31, 67], _), ());
numerics!(hard_sigmoid_backward: ops::codelets::HardSigmoidBackward, (within(-4.0, 4.0, [31, 67]), [31, 67], _), ());
numerics!(hard_swish: ops::codelets::HardSwish, (within(-100.0, 100.0, [31, 67]), _), ());
numerics!(hard_swish_backward: ops::codelets::HardSwishBackward, (within(-4.0, 4.0, [31, 67]), within(-10.0, 10.0, [31, 67]), _), ());
numerics!(hard_tanh: ops::codelets::HardTanh, ([31, 67], _), ());
numerics!(hard_tanh_backward: ops::codelets::HardTanhBackward, ([31, 67], [31, 67], _), ());
