use super::*;

numerics!(norm: ops::Norm, ([31, 67], _), ());
numerics!(norm_axis: ops::NormAxis, ([3, 67, 5], _), (1,));
numerics!(norm_l1: ops::NormL1, ([31, 67], _), ());
numerics!(norm_l1_axis: ops::NormL1Axis, ([3, 67, 5], _), (1,));
numerics!(norm_backward: ops::NormBackward, ([5, 31], [], _), ());
numerics!(norm_axis_backward: ops::NormAxisBackward, ([31, 7], [1, 7], _), (0,));
