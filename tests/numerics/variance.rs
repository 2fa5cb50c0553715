use super::*;

numerics!(variance: ops::codelets::Variance, ([31, 67], _), (1,));
numerics!(variance_axis: ops::codelets::VarianceAxis, ([3, 67, 5], _), (1, 0));
numerics!(variance_backward: ops::codelets::VarianceBackward, ([31, 7], [], _), (1,));
numerics!(variance_axis_backward: ops::codelets::VarianceAxisBackward, ([31, 7], [1, 7], _), (0, 0));
