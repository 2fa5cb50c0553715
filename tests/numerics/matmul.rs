use super::*;

numerics!(matmul: ops::codelets::Matmul, ([31, 67], [67, 13], _), (ops::Transposed::NEITHER,));
numerics!(matmul_of_transposes: ops::codelets::Matmul, ([67, 31], [13, 67], _), (ops::Transposed::BOTH,));
numerics!(matmul_add: ops::codelets::MatmulAdd, ([31, 67], [13, 67], _), (ops::Transposed::RIGHT,));
numerics!(matvec: ops::codelets::Matvec, ([31, 67], [67], _), (false,));
numerics!(outer: ops::codelets::Outer, ([31], [67], _), ());
numerics!(dot: ops::codelets::Dot, ([31, 67], [31, 67], _), ());
