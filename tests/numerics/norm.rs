use super::*;

numerics!(norm: ops::codelets::Norm, ([31, 67], _), ());
numerics!(norm_axis: ops::codelets::NormAxis, ([3, 67, 5], _), (1,));
numerics!(norm_l1: ops::codelets::NormL1, ([31, 67], _), ());
numerics!(norm_l1_axis: ops::codelets::NormL1Axis, ([3, 67, 5], _), (1,));
numerics!(norm_backward: ops::codelets::NormBackward, ([5, 31], [], _), ());
numerics!(norm_axis_backward: ops::codelets::NormAxisBackward, ([31, 7], [1, 7], _), (0,));
