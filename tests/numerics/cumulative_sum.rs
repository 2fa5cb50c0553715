use super::*;

numerics!(cumulative_sum: ops::codelets::CumulativeSum, ([3, 67, 5], _), (1,));
numerics!(cumulative_sum_of_rows: ops::codelets::CumulativeSum, ([7, 67], _), (1,));
numerics!(cumulative_sum_backward: ops::codelets::CumulativeSumBackward, ([3, 67, 5], _), (1,));
