use super::*;
use dahl::testing::within;

numerics!(erf: ops::codelets::Erf, ([31, 67], _), ());
numerics!(erf_backward: ops::codelets::ErfBackward, (within(-8.0, 8.0, [31, 67]), within(-2.0, 2.0, [31, 67]), _), ());
