use super::*;
use dahl::testing::within;

numerics!(exp: ops::codelets::Exp, ([31, 67], _), ());
numerics!(exp_backward: ops::codelets::ExpBackward, ([31, 67], [31, 67], _), ());
numerics!(exp2: ops::codelets::Exp2, ([31, 67], _), ());
numerics!(exp2_backward: ops::codelets::Exp2Backward, (within(0.0, 1000.0, [31, 67]), within(-10.0, 10.0, [31, 67]), _), ());
numerics!(expm1: ops::codelets::Expm1, ([31, 67], _), ());
numerics!(expm1_backward: ops::codelets::Expm1Backward, (within(-80.0, 10.0, [31, 67]), within(-2.0, 2.0, [31, 67]), _), ());
numerics!(ln: ops::codelets::Ln, ([31, 67], _), ());
numerics!(ln_backward: ops::codelets::LnBackward, ([31, 67], [31, 67], _), ());
numerics!(log2: ops::codelets::Log2, ([31, 67], _), ());
numerics!(log2_backward: ops::codelets::Log2Backward, (within(0.01, 100.0, [31, 67]), within(-10.0, 10.0, [31, 67]), _), ());
numerics!(log10: ops::codelets::Log10, ([31, 67], _), ());
numerics!(log10_backward: ops::codelets::Log10Backward, (within(0.01, 100.0, [31, 67]), within(-10.0, 10.0, [31, 67]), _), ());
numerics!(log1p: ops::codelets::Log1p, ([31, 67], _), ());
numerics!(log1p_backward: ops::codelets::Log1pBackward, ([31, 67], [31, 67], _), ());
