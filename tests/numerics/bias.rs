use super::*;

numerics!(bias: ops::codelets::Bias, ([3, 5, 31], [5], _), (1,));
numerics!(bias_backward: ops::codelets::BiasBackward, ([7, 5, 31], _), (1,));
