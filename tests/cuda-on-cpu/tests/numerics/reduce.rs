use super::*;

on_cpu!(sum: sum of ops::Sum, ([131, 67], _), ());
on_cpu!(mean: mean of ops::Mean, ([131, 67], _), ());
on_cpu!(max: max of ops::Max, ([31, 67], _), ());
on_cpu!(min: min of ops::Min, ([31, 67], _), ());
// Lanes side by side; in a row, short; in a row, long.
on_cpu!(sum_axis: sum_axis of ops::SumAxis, ([131, 3, 25], _), (0,));
on_cpu!(sum_axis_last: sum_axis of ops::SumAxis, ([13, 67], _), (1,));
on_cpu!(sum_axis_long: sum_axis of ops::SumAxis, ([3, 2051], _), (1,));
on_cpu!(mean_axis: mean_axis of ops::MeanAxis, ([3, 131, 5], _), (1,));
on_cpu!(mean_axis_side_by_side: mean_axis of ops::MeanAxis, ([3, 31, 33], _), (1,));
on_cpu!(max_axis: max_axis of ops::MaxAxis, ([3, 31, 5], _), (1,));
on_cpu!(max_axis_side_by_side: max_axis of ops::MaxAxis, ([2, 31, 70], _), (1,));
on_cpu!(min_axis: min_axis of ops::MinAxis, ([3, 5, 31], _), (2,));
on_cpu!(min_axis_long: min_axis of ops::MinAxis, ([1030, 3], _), (0,));
