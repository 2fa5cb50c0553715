use super::*;

on_cpu!(arg_max: arg_max of ops::codelets::ArgMax, ([3, 31, 5], _), (1,));
on_cpu!(arg_max_side_by_side: arg_max of ops::codelets::ArgMax, ([2, 31, 40], _), (1,));
on_cpu!(arg_min: arg_min of ops::codelets::ArgMin, ([3, 31, 5], _), (2,));
on_cpu!(arg_min_long: arg_min of ops::codelets::ArgMin, ([1100, 2], _), (0,));
on_cpu!(sum_backward: sum_backward of ops::codelets::SumBackward, ([], output([5, 7])), ());
on_cpu!(mean_backward: mean_backward of ops::codelets::MeanBackward, ([], output([5, 7])), ());
on_cpu!(sum_axes_backward: sum_axes_backward of ops::codelets::SumAxesBackward, ([1, 5, 1, 3], output([7, 5, 2, 3])), (ops::Axes::new([0, 2]),));
on_cpu!(sum_axis_backward: sum_axis_backward of ops::codelets::SumAxisBackward, ([5, 1], output([5, 7])), (1,));
on_cpu!(mean_axis_backward: mean_axis_backward of ops::codelets::MeanAxisBackward, ([1, 5], output([7, 5])), (0,));
on_cpu!(max_backward: max_backward of ops::codelets::MaxBackward, ([45, 67], [], _), ());
on_cpu!(min_backward: min_backward of ops::codelets::MinBackward, ([5, 7], [], _), ());
on_cpu!(max_axis_backward: max_axis_backward of ops::codelets::MaxAxisBackward, ([5, 31], [5, 1], _), (1,));
on_cpu!(min_axis_backward: min_axis_backward of ops::codelets::MinAxisBackward, ([31, 40], [1, 40], _), (0,));
