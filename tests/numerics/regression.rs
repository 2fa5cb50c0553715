use super::*;
use dahl::testing::within;

numerics!(mean_squared_error: ops::codelets::MeanSquaredError, ([5003], [5003], _), (1.0 / 5003.0,));
numerics!(mean_squared_error_backward: ops::codelets::MeanSquaredErrorBackward, (within(-100.0, 100.0, [31, 67]), within(-100.0, 100.0, [31, 67]), _), (0.125,));
numerics!(mean_absolute_error: ops::codelets::MeanAbsoluteError, ([5003], [5003], _), (1.0 / 5003.0,));
numerics!(mean_absolute_error_backward: ops::codelets::MeanAbsoluteErrorBackward, ([31, 67], [31, 67], _), (0.125,));
numerics!(squared_error: ops::codelets::SquaredError, (within(-100.0, 100.0, [31, 67]), within(-100.0, 100.0, [31, 67]), _), ());
numerics!(absolute_error: ops::codelets::AbsoluteError, (within(-100.0, 100.0, [31, 67]), within(-100.0, 100.0, [31, 67]), _), ());
