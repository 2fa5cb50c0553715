use super::*;

numerics!(bias: ops::Bias, ([3, 5, 31], [5], _), (1,));
numerics!(bias_backward: ops::BiasBackward, ([7, 5, 31], _), (1,));
