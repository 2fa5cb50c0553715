use super::*;

on_cpu!(sum: sum of ops::codelets::Sum, ([131, 67], _), ());
on_cpu!(mean: mean of ops::codelets::Mean, ([131, 67], _), ());
on_cpu!(max: max of ops::codelets::Max, ([31, 67], _), ());
on_cpu!(min: min of ops::codelets::Min, ([31, 67], _), ());
// Adjacent lanes; contiguous lanes, short; contiguous lanes, long.
on_cpu!(sum_axis: sum_axis of ops::codelets::SumAxis, ([131, 3, 25], _), (0,));
on_cpu!(sum_axis_last: sum_axis of ops::codelets::SumAxis, ([13, 67], _), (1,));
on_cpu!(sum_axis_long: sum_axis of ops::codelets::SumAxis, ([3, 2051], _), (1,));
// Runs of odd and of even length; adjacent lanes; few lanes, in parts.
on_cpu!(sum_axes: sum_axes of ops::codelets::SumAxes, ([5, 3, 2, 7], _), (ops::Axes::new([0, 2, 3]),));
on_cpu!(sum_axes_in_runs: sum_axes of ops::codelets::SumAxes, ([7, 3, 40], _), (ops::Axes::new([0, 2]),));
on_cpu!(sum_axes_side_by_side: sum_axes of ops::codelets::SumAxes, ([5, 3, 7, 24], _), (ops::Axes::new([0, 2]),));
on_cpu!(sum_axes_in_parts: sum_axes of ops::codelets::SumAxes, ([40, 2, 1031], _), (ops::Axes::new([0, 2]),));
on_cpu!(mean_axis: mean_axis of ops::codelets::MeanAxis, ([3, 131, 5], _), (1,));
on_cpu!(mean_axis_side_by_side: mean_axis of ops::codelets::MeanAxis, ([3, 31, 33], _), (1,));
on_cpu!(max_axis: max_axis of ops::codelets::MaxAxis, ([3, 31, 5], _), (1,));
on_cpu!(max_axis_side_by_side: max_axis of ops::codelets::MaxAxis, ([2, 31, 70], _), (1,));
on_cpu!(min_axis: min_axis of ops::codelets::MinAxis, ([3, 5, 31], _), (2,));
on_cpu!(min_axis_long: min_axis of ops::codelets::MinAxis, ([1030, 3], _), (0,));
// Adjacent lanes, several for a thread; few and long, in parts; both.
on_cpu!(sum_axis_in_chunks: sum_axis of ops::codelets::SumAxis, ([131, 3, 24], _), (0,));
on_cpu!(sum_axis_in_parts: sum_axis of ops::codelets::SumAxis, ([1100, 61], _), (0,));
on_cpu!(mean_axis_in_chunks_and_parts: mean_axis of ops::codelets::MeanAxis, ([1030, 64], _), (0,));
// Contiguous lanes in chunks, where every other lane does not begin at a chunk; by blocks, in parts.
on_cpu!(sum_axis_last_in_chunks: sum_axis of ops::codelets::SumAxis, ([5, 260], _), (1,));
on_cpu!(max_axis_last_of_odd_length: max_axis of ops::codelets::MaxAxis, ([3, 261], _), (1,));
on_cpu!(sum_axis_long_in_parts: sum_axis of ops::codelets::SumAxis, ([8, 8201], _), (1,));
on_cpu!(min_axis_in_chunks: min_axis of ops::codelets::MinAxis, ([2, 70, 16], _), (1,));
