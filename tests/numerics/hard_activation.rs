use super::*;
use dahl::testing::within;

numerics!(hard_sigmoid: ops::codelets::HardSigmoid, ([31, 67], _), ());
numerics!(hard_swish: ops::codelets::HardSwish, (within(-100.0, 100.0, [31, 67]), _), ());
numerics!(hard_tanh: ops::codelets::HardTanh, ([31, 67], _), ());
