use super::*;

numerics!(arg_max: ops::codelets::ArgMax, ([3, 31, 5], _), (1,));
numerics!(arg_min: ops::codelets::ArgMin, ([3, 31, 5], _), (2,));
