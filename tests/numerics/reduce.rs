use super::*;

numerics!(sum: ops::codelets::Sum, ([31, 67], _), ());
numerics!(mean: ops::codelets::Mean, ([31, 67], _), ());
numerics!(max: ops::codelets::Max, ([31, 67], _), ());
numerics!(min: ops::codelets::Min, ([31, 67], _), ());
numerics!(sum_axis: ops::codelets::SumAxis, ([131, 3, 5], _), (0,));
numerics!(sum_axis_of_one: ops::codelets::SumAxis, ([3, 1, 35], _), (1,));
numerics!(sum_axes: ops::codelets::SumAxes, ([7, 5, 31], _), (ops::Axes::new([0, 2]),));
numerics!(sum_axes_of_neighbours: ops::codelets::SumAxes, ([3, 7, 5, 11], _), (ops::Axes::new([3, 1, 2]),));
numerics!(mean_axis: ops::codelets::MeanAxis, ([3, 131, 5], _), (1,));
numerics!(max_axis: ops::codelets::MaxAxis, ([3, 31, 5], _), (1,));
numerics!(min_axis: ops::codelets::MinAxis, ([3, 5, 31], _), (2,));
