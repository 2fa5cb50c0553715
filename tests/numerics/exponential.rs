use super::*;
use dahl::testing::within;

numerics!(exp: ops::Exp, ([31, 67], _), ());
numerics!(exp_backward: ops::ExpBackward, ([31, 67], [31, 67], _), ());
numerics!(exp2: ops::Exp2, ([31, 67], _), ());
numerics!(exp2_backward: ops::Exp2Backward, (within(0.0, 1000.0, [31, 67]), within(-10.0, 10.0, [31, 67]), _), ());
numerics!(expm1: ops::Expm1, ([31, 67], _), ());
numerics!(expm1_backward: ops::Expm1Backward, (within(-80.0, 10.0, [31, 67]), within(-2.0, 2.0, [31, 67]), _), ());
numerics!(ln: ops::Ln, ([31, 67], _), ());
numerics!(ln_backward: ops::LnBackward, ([31, 67], [31, 67], _), ());
numerics!(log2: ops::Log2, ([31, 67], _), ());
numerics!(log2_backward: ops::Log2Backward, (within(0.01, 100.0, [31, 67]), within(-10.0, 10.0, [31, 67]), _), ());
numerics!(log10: ops::Log10, ([31, 67], _), ());
numerics!(log10_backward: ops::Log10Backward, (within(0.01, 100.0, [31, 67]), within(-10.0, 10.0, [31, 67]), _), ());
numerics!(log1p: ops::Log1p, ([31, 67], _), ());
numerics!(log1p_backward: ops::Log1pBackward, ([31, 67], [31, 67], _), ());
