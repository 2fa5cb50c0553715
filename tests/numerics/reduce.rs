use super::*;

numerics!(sum: ops::Sum, ([31, 67], _), ());
numerics!(mean: ops::Mean, ([31, 67], _), ());
numerics!(max: ops::Max, ([31, 67], _), ());
numerics!(min: ops::Min, ([31, 67], _), ());
numerics!(sum_axis: ops::SumAxis, ([131, 3, 5], _), (0,));
numerics!(mean_axis: ops::MeanAxis, ([3, 131, 5], _), (1,));
numerics!(max_axis: ops::MaxAxis, ([3, 31, 5], _), (1,));
numerics!(min_axis: ops::MinAxis, ([3, 5, 31], _), (2,));
