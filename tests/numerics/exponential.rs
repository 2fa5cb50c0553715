use super::*;

numerics!(exp: ops::codelets::Exp, ([31, 67], _), ());
numerics!(exp2: ops::codelets::Exp2, ([31, 67], _), ());
numerics!(expm1: ops::codelets::Expm1, ([31, 67], _), ());
numerics!(ln: ops::codelets::Ln, ([31, 67], _), ());
numerics!(log2: ops::codelets::Log2, ([31, 67], _), ());
numerics!(log10: ops::codelets::Log10, ([31, 67], _), ());
numerics!(log1p: ops::codelets::Log1p, ([31, 67], _), ());
