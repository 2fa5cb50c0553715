use super::*;
use dahl::testing::within;

numerics!(hard_sigmoid: ops::codelets::HardSigmoid, ([31, 67], _), ());
numerics!(hard_swish: ops::codelets::HardSwish, (within(-100.0, 100.0, [31, 67]), _), ());
numerics!(hard_tanh: ops::codelets::HardTanh, ([31, 67], _), (-0.75, 1.5));
numerics!(relu6: ops::codelets::Relu6, ([31, 67], _), ());
numerics!(threshold: ops::codelets::Threshold, ([31, 67], _), (0.25, 3.0));
numerics!(hard_shrink: ops::codelets::HardShrink, ([31, 67], _), (T::from_f64(0.5),));
numerics!(soft_shrink: ops::codelets::SoftShrink, ([31, 67], _), (T::from_f64(0.5),));
