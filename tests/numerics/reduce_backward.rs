use super::*;

numerics!(sum_backward: ops::codelets::SumBackward, ([], output([5, 7])), ());
numerics!(mean_backward: ops::codelets::MeanBackward, ([], output([5, 7])), ());
numerics!(sum_axes_backward: ops::codelets::SumAxesBackward, ([1, 5, 1, 3], output([7, 5, 2, 3])), (ops::Axes::new([0, 2]),));
numerics!(sum_axis_backward: ops::codelets::SumAxisBackward, ([5, 1], output([5, 7])), (1,));
numerics!(mean_axis_backward: ops::codelets::MeanAxisBackward, ([1, 5], output([7, 5])), (0,));
numerics!(max_backward: ops::codelets::MaxBackward, ([5, 7], [], _), ());
numerics!(min_backward: ops::codelets::MinBackward, ([5, 7], [], _), ());
numerics!(max_axis_backward: ops::codelets::MaxAxisBackward, ([5, 31], [5, 1], _), (1,));
numerics!(min_axis_backward: ops::codelets::MinAxisBackward, ([31, 5], [1, 5], _), (0,));
