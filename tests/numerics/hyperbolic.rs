use super::*;
use dahl::testing::within;

numerics!(sinh: ops::codelets::Sinh, ([31, 67], _), ());
numerics!(sinh_backward: ops::codelets::SinhBackward, (within(-10.0, 10.0, [31, 67]), within(-10.0, 10.0, [31, 67]), _), ());
numerics!(cosh: ops::codelets::Cosh, ([31, 67], _), ());
numerics!(cosh_backward: ops::codelets::CoshBackward, (within(-10.0, 10.0, [31, 67]), within(-10.0, 10.0, [31, 67]), _), ());
numerics!(tanh: ops::codelets::Tanh, ([31, 67], _), ());
numerics!(tanh_backward: ops::codelets::TanhBackward, (within(-1.0, 1.0, [31, 67]), [31, 67], _), ());
numerics!(asinh: ops::codelets::Asinh, ([31, 67], _), ());
numerics!(asinh_backward: ops::codelets::AsinhBackward, ([31, 67], [31, 67], _), ());
numerics!(acosh: ops::codelets::Acosh, ([31, 67], _), ());
numerics!(acosh_backward: ops::codelets::AcoshBackward, ([31, 67], [31, 67], _), ());
numerics!(atanh: ops::codelets::Atanh, ([31, 67], _), ());
numerics!(atanh_backward: ops::codelets::AtanhBackward, (within(-1.0, 1.0, [31, 67]), [31, 67], _), ());
