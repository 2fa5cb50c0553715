use super::*;
use dahl::testing::within;

numerics!(sinh: ops::Sinh, ([31, 67], _), ());
numerics!(sinh_backward: ops::SinhBackward, (within(-10.0, 10.0, [31, 67]), within(-10.0, 10.0, [31, 67]), _), ());
numerics!(cosh: ops::Cosh, ([31, 67], _), ());
numerics!(cosh_backward: ops::CoshBackward, (within(-10.0, 10.0, [31, 67]), within(-10.0, 10.0, [31, 67]), _), ());
numerics!(tanh: ops::Tanh, ([31, 67], _), ());
numerics!(tanh_backward: ops::TanhBackward, (within(-1.0, 1.0, [31, 67]), [31, 67], _), ());
numerics!(asinh: ops::Asinh, ([31, 67], _), ());
numerics!(asinh_backward: ops::AsinhBackward, ([31, 67], [31, 67], _), ());
numerics!(acosh: ops::Acosh, ([31, 67], _), ());
numerics!(acosh_backward: ops::AcoshBackward, ([31, 67], [31, 67], _), ());
numerics!(atanh: ops::Atanh, ([31, 67], _), ());
numerics!(atanh_backward: ops::AtanhBackward, (within(-1.0, 1.0, [31, 67]), [31, 67], _), ());
