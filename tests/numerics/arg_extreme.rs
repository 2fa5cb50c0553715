use super::*;

numerics!(arg_max: ops::ArgMax, ([3, 31, 5], _), (1,));
numerics!(arg_min: ops::ArgMin, ([3, 31, 5], _), (2,));
