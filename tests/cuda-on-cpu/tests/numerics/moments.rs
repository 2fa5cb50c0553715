use super::*;

on_cpu!(norm: norm of ops::Norm, ([31, 67], _), ());
on_cpu!(norm_axis: norm_axis of ops::NormAxis, ([3, 67, 5], _), (1,));
on_cpu!(norm_l1: norm_l1 of ops::NormL1, ([31, 67], _), ());
on_cpu!(norm_l1_axis: norm_l1_axis of ops::NormL1Axis, ([3, 67, 5], _), (1,));
on_cpu!(norm_backward: norm_backward of ops::NormBackward, ([5, 31], [], _), ());
on_cpu!(norm_axis_backward: norm_axis_backward of ops::NormAxisBackward, ([31, 7], [1, 7], _), (0,));
on_cpu!(product: product of ops::Product, ([5, 31], _), ());
on_cpu!(product_axis: product_axis of ops::ProductAxis, ([3, 31, 5], _), (1,));
on_cpu!(product_backward: product_backward of ops::ProductBackward, ([5, 7], [], _), ());
on_cpu!(product_axis_backward: product_axis_backward of ops::ProductAxisBackward, ([3, 31, 5], [3, 1, 5], _), (1,));
on_cpu!(variance: variance of ops::Variance, ([71, 67], _), (1,));
on_cpu!(variance_axis: variance_axis of ops::VarianceAxis, ([3, 67, 5], _), (1, 0));
on_cpu!(variance_axis_side_by_side: variance_axis of ops::VarianceAxis, ([2, 19, 37], _), (1, 1));
on_cpu!(variance_backward: variance_backward of ops::VarianceBackward, ([31, 7], [], _), (1,));
on_cpu!(variance_axis_backward: variance_axis_backward of ops::VarianceAxisBackward, ([31, 7], [1, 7], _), (0, 0));
