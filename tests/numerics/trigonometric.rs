use super::*;
use dahl::testing::within;

numerics!(sin: ops::Sin, ([31, 67], _), ());
numerics!(sin_backward: ops::SinBackward, ([31, 67], [31, 67], _), ());
numerics!(cos: ops::Cos, ([31, 67], _), ());
numerics!(cos_backward: ops::CosBackward, ([31, 67], [31, 67], _), ());
numerics!(tan: ops::Tan, ([31, 67], _), ());
numerics!(tan_backward: ops::TanBackward, (within(-1000.0, 1000.0, [31, 67]), [31, 67], _), ());
numerics!(asin: ops::Asin, ([31, 67], _), ());
numerics!(asin_backward: ops::AsinBackward, ([31, 67], [31, 67], _), ());
numerics!(acos: ops::Acos, ([31, 67], _), ());
numerics!(acos_backward: ops::AcosBackward, ([31, 67], [31, 67], _), ());
numerics!(atan: ops::Atan, ([31, 67], _), ());
numerics!(atan_backward: ops::AtanBackward, ([31, 67], [31, 67], _), ());
numerics!(atan2: ops::Atan2, ([31, 67], [31, 67], _), ());
numerics!(atan2_backward_y: ops::Atan2BackwardY, (within(-100.0, -0.01, [31, 67]), within(0.01, 100.0, [31, 67]), within(-10.0, 10.0, [31, 67]), _), ());
numerics!(atan2_backward_x: ops::Atan2BackwardX, (within(-100.0, -0.01, [31, 67]), within(0.01, 100.0, [31, 67]), within(-10.0, 10.0, [31, 67]), _), ());
