use super::*;
use dahl::testing::within;

numerics!(sin: ops::codelets::Sin, ([31, 67], _), ());
numerics!(sin_backward: ops::codelets::SinBackward, ([31, 67], [31, 67], _), ());
numerics!(cos: ops::codelets::Cos, ([31, 67], _), ());
numerics!(cos_backward: ops::codelets::CosBackward, ([31, 67], [31, 67], _), ());
numerics!(tan: ops::codelets::Tan, ([31, 67], _), ());
numerics!(tan_backward: ops::codelets::TanBackward, (within(-1000.0, 1000.0, [31, 67]), [31, 67], _), ());
numerics!(asin: ops::codelets::Asin, ([31, 67], _), ());
numerics!(asin_backward: ops::codelets::AsinBackward, ([31, 67], [31, 67], _), ());
numerics!(acos: ops::codelets::Acos, ([31, 67], _), ());
numerics!(acos_backward: ops::codelets::AcosBackward, ([31, 67], [31, 67], _), ());
numerics!(atan: ops::codelets::Atan, ([31, 67], _), ());
numerics!(atan_backward: ops::codelets::AtanBackward, ([31, 67], [31, 67], _), ());
numerics!(atan2: ops::codelets::Atan2, ([31, 67], [31, 67], _), ());
numerics!(atan2_backward_y: ops::codelets::Atan2BackwardY, (within(-100.0, -0.01, [31, 67]), within(0.01, 100.0, [31, 67]), within(-10.0, 10.0, [31, 67]), _), ());
numerics!(atan2_backward_x: ops::codelets::Atan2BackwardX, (within(-100.0, -0.01, [31, 67]), within(0.01, 100.0, [31, 67]), within(-10.0, 10.0, [31, 67]), _), ());
